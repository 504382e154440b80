// SPDX-License-Identifier: Apache-2.0
//
// The memory that a record owns on the heap beside its own bytes. A batch is full when its block is
// full, or when its records own RunOptions::batch_heap_bytes. Back-pressure therefore bounds memory
// for records of strings and vectors as it does for plain ones.
//
// Counted are the containers of the standard library, std::unique_ptr to one object, and optionals,
// pairs, tuples, variants, arrays and aggregates with such members. A container counts its elements
// (its capacity where it has one) without what its nodes need besides; a std::unique_ptr counts the
// type that it names, not a type derived from that. Any other type that owns memory counts as 0 and
// does not fill a batch: a class with constructors, an aggregate with a base or with more than 20
// members, a std::unique_ptr to an array. Such a type, or a type around it, must report how much it
// owns, in a member or in a function in the namespace of the type, declared before the type is a
// record:
//
//     std::size_t heap_bytes() const;                 // in it
//     std::size_t heap_bytes(const Picture& picture);  // beside it
//
// The report is without sizeof the type. It stands for the whole type: members are not counted
// then. The engine asks for it once for each record that is written into a batch, so it should be
// O(1). A std::shared_ptr counts as 0, because several records may share its object.
//
// O(1) for most types, O(size) for containers whose elements own memory. Types that own nothing
// cost nothing: that is known at compile time. Stateless; any thread.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/engine/base/members.hpp>
#include <strid/engine/base/text_fields.hpp>

namespace strid {

namespace detail {

template <class T>
concept HasHeapBytes = requires(const T& record) {
    { record.heap_bytes() } -> std::convertible_to<std::size_t>;
};
template <class T>
concept HasHeapBytesBeside = requires(const T& record) {
    { heap_bytes(record) } -> std::convertible_to<std::size_t>;
};

template <class T>
struct HeapIn;
template <class T>
[[nodiscard]] std::size_t heap_of(const T& value);

template <class T>
constexpr bool has_heap() {
    if constexpr (HasHeapBytes<T> || HasHeapBytesBeside<T>) {
        return true;
    } else if constexpr (std::is_trivially_copyable_v<T>) {
        return false;
    } else {
        return HeapIn<T>::found();
    }
}
template <class... Parts>
constexpr bool any_has_heap(MemberList<Parts...>) {
    return (has_heap<std::remove_cv_t<Parts>>() || ...);
}

/// A class of which nothing more is known.
template <class T>
struct HeapIn {
    static constexpr bool found() {
        if constexpr (std::is_array_v<T>) {
            return has_heap<std::remove_all_extents_t<T>>();
        } else if constexpr (has_members<T>) {
            return any_has_heap(MembersOf<T>{});
        } else {
            return false;
        }
    }
    static std::size_t of(const T& value) {
        if constexpr (std::is_array_v<T>) {
            std::size_t bytes = 0;
            for (const auto& one : value) bytes += heap_of(one);
            return bytes;
        } else {
            return visit_members(
                value, [](const auto&... members) { return (heap_of(members) + ... + 0); });
        }
    }
};

template <OwningContainer T>
struct HeapIn<T> {
    using Element = typename T::value_type;

    static constexpr bool found() { return true; }
    static std::size_t of(const T& container) {
        std::size_t bytes = own_bytes(container);
        if constexpr (has_heap<Element>()) {
            for (const Element& element : container) bytes += heap_of(element);
        }
        return bytes;
    }

  private:
    static std::size_t own_bytes(const T& container) {
        if constexpr (requires { container.capacity(), container.data(); }) {
            // A short string is stored in the object itself.
            const auto data = reinterpret_cast<std::uintptr_t>(container.data());
            const auto object = reinterpret_cast<std::uintptr_t>(&container);
            if (data - object < sizeof container) return 0;
            return container.capacity() * sizeof(Element);
        } else {
            return container.size() * sizeof(Element);
        }
    }
};

template <class T, class Deleter>
struct HeapIn<std::unique_ptr<T, Deleter>> {
    static constexpr bool found() { return !std::is_array_v<T>; }
    static std::size_t of(const std::unique_ptr<T, Deleter>& pointer) {
        return pointer ? sizeof(T) + heap_of(*pointer) : 0;
    }
};
template <class T>
struct HeapIn<std::optional<T>> {
    static constexpr bool found() { return has_heap<T>(); }
    static std::size_t of(const std::optional<T>& value) { return value ? heap_of(*value) : 0; }
};
template <class... Parts>
struct HeapIn<std::tuple<Parts...>> {
    static constexpr bool found() { return any_has_heap(MemberList<Parts...>{}); }
    static std::size_t of(const std::tuple<Parts...>& value) {
        return std::apply([](const auto&... parts) { return (heap_of(parts) + ... + 0); }, value);
    }
};
template <class First, class Second>
struct HeapIn<std::pair<First, Second>> {
    static constexpr bool found() { return any_has_heap(MemberList<First, Second>{}); }
    static std::size_t of(const std::pair<First, Second>& value) {
        return heap_of(value.first) + heap_of(value.second);
    }
};
template <class... Parts>
struct HeapIn<std::variant<Parts...>> {
    static constexpr bool found() { return any_has_heap(MemberList<Parts...>{}); }
    static std::size_t of(const std::variant<Parts...>& value) {
        if (value.valueless_by_exception()) return 0;
        return std::visit([](const auto& one) { return heap_of(one); }, value);
    }
};
template <class T, std::size_t size>
struct HeapIn<std::array<T, size>> {
    static constexpr bool found() { return has_heap<T>(); }
    static std::size_t of(const std::array<T, size>& values) {
        std::size_t bytes = 0;
        for (const T& value : values) bytes += heap_of(value);
        return bytes;
    }
};

template <class T>
std::size_t heap_of(const T& value) {
    if constexpr (HasHeapBytes<T>) {
        return value.heap_bytes();
    } else if constexpr (HasHeapBytesBeside<T>) {
        return heap_bytes(value);
    } else if constexpr (has_heap<T>()) {
        return HeapIn<T>::of(value);
    } else {
        return 0;
    }
}

}  // namespace detail

/// Whether a `T` may own memory beside its own bytes, as far as the compiler knows.
template <class T>
inline constexpr bool owns_heap = detail::has_heap<T>();

/// The heap memory that a record owns, in bytes and without sizeof(T); 0 for types about which
/// nothing is known. Throws what a `heap_bytes` of the user throws.
template <class T>
[[nodiscard]] std::size_t heap_bytes_of(const T& record) {
    return detail::heap_of(record);
}

}  // namespace strid
