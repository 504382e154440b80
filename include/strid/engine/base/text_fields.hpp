// SPDX-License-Identifier: Apache-2.0
//
// Whether a record or a state refers to text. A text field (std::string_view) is valid as long as
// the batch of its record; an operator that keeps records, or a state made of them, needs to know.
//
// The compiler sees what is public: text itself, spans, the standard library's pairs, tuples,
// optionals, variants and containers of such, and the members of aggregates, at any depth. It does
// not see private members, captures of a lambda, or what a pointer points to. A class with such
// members that refer to text must declare `static constexpr bool points_to_text = true`, or false
// if its text outlives the run (literals, a file that stays mapped). Compile time only.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/engine/base/members.hpp>

namespace strid {

namespace detail {

struct ViewProbe {
    operator std::string_view() const noexcept;
};

template <class T, class Probe, std::size_t... before>
constexpr bool takes_behind(std::index_sequence<before...>) {
    return requires { T{Any<T>{before}..., Probe{}}; };
}

/// Whether one of the first members of an aggregate that cannot be taken apart is text. Found by
/// trying: it takes text, and not just anything.
template <class T, std::size_t index = 0>
constexpr bool has_view_field() {
    constexpr auto before = std::make_index_sequence<index>{};
    if constexpr (takes_behind<T, ViewProbe>(before)) {
        return !takes_behind<T, NoMember>(before);
    } else if constexpr (index < initialisers_max &&
                         takes<T>(std::make_index_sequence<index + 1>{})) {
        return has_view_field<T, index + 1>();
    } else {
        return false;
    }
}

/// Whether a `T` refers to text. `Seen` are the types that contain it: the nodes of a tree contain
/// nodes of the same type.
template <class T, class... Seen>
struct TextIn;

template <class T, class... Seen>
constexpr bool text_in() {
    if constexpr ((std::is_same_v<T, Seen> || ...)) {
        return false;
    } else {
        return TextIn<T, Seen...>::found();
    }
}

template <class... Parts, class... Seen>
constexpr bool text_in_any(MemberList<Parts...>, MemberList<Seen...>) {
    return (text_in<std::remove_cv_t<Parts>, Seen...>() || ...);
}

/// A container of the standard library, or like one: it owns its elements.
template <class T>
concept OwningContainer = requires(const T& container) {
    typename T::allocator_type;
    typename T::value_type;
    container.begin();
    { container.size() } -> std::convertible_to<std::size_t>;
};

template <class T, class... Seen>
struct TextIn {
    static constexpr bool found() {
        if constexpr (requires { T::points_to_text; }) {
            return T::points_to_text;
        } else if constexpr (std::is_array_v<T>) {
            return text_in<std::remove_all_extents_t<T>, Seen...>();
        } else if constexpr (OwningContainer<T>) {
            return text_in_any(MemberList<typename T::value_type>{}, MemberList<T, Seen...>{});
        } else if constexpr (has_members<T>) {
            return text_in_any(MembersOf<T>{}, MemberList<T, Seen...>{});
        } else if constexpr (std::is_aggregate_v<T> && std::is_class_v<T>) {
            return has_view_field<T>();
        } else {
            return false;
        }
    }
};
template <class Char, class Traits, class... Seen>
struct TextIn<std::basic_string_view<Char, Traits>, Seen...> {
    static constexpr bool found() { return true; }
};
template <class T, std::size_t extent, class... Seen>
struct TextIn<std::span<T, extent>, Seen...> {
    static constexpr bool found() { return true; }
};

template <class Seen, class... Parts>
struct TextInAny {
    static constexpr bool found() { return text_in_any(MemberList<Parts...>{}, Seen{}); }
};
template <class T, class... Seen>
struct TextIn<std::optional<T>, Seen...> : TextInAny<MemberList<Seen...>, T> {};
template <class T, std::size_t size, class... Seen>
struct TextIn<std::array<T, size>, Seen...> : TextInAny<MemberList<Seen...>, T> {};
template <class First, class Second, class... Seen>
struct TextIn<std::pair<First, Second>, Seen...> : TextInAny<MemberList<Seen...>, First, Second> {};
template <class... Parts, class... Seen>
struct TextIn<std::tuple<Parts...>, Seen...> : TextInAny<MemberList<Seen...>, Parts...> {};
template <class... Parts, class... Seen>
struct TextIn<std::variant<Parts...>, Seen...> : TextInAny<MemberList<Seen...>, Parts...> {};

}  // namespace detail

/// True if `T` is text, or contains text as far as the compiler sees (above).
template <class T>
inline constexpr bool points_to_text = detail::text_in<T>();

/// Does not compile for records whose text is freed before the calling operator frees the records.
template <class T>
constexpr void check_owns_text() noexcept {
    static_assert(!points_to_text<T>,
                  "this operator keeps records longer than the batches that their text fields "
                  "point to: map them to records that own it (std::string, std::array<char, N>)");
}

/// The same for a state that is made of records.
template <class State>
constexpr void check_state_owns_text() noexcept {
    static_assert(!points_to_text<State>,
                  "this state is kept longer than the batches that the text fields of records "
                  "point to: keep text that it owns (std::string in place of std::string_view)");
}

}  // namespace strid
