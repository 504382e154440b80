// SPDX-License-Identifier: Apache-2.0
//
// The kinds of types by which a codec is found (state/codec.hpp). Compile time only.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <strid/engine/base/members.hpp>
#include <strid/state/bytes.hpp>

namespace strid::state {

template <class T, template <class...> class Template>
inline constexpr bool is_of = false;
template <template <class...> class Template, class... Arguments>
inline constexpr bool is_of<Template<Arguments...>, Template> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t size>
inline constexpr bool is_array<std::array<T, size>> = true;

/// A set or a map.
template <class T>
concept Associative = requires(T& table, typename T::key_type key) {
    typename T::value_type;
    table.size();
    table.clear();
    table.find(key);
    table.begin();
};
template <class T>
concept Map = Associative<T> && requires { typename T::mapped_type; };

template <class T>
concept IsTuple = is_of<T, std::tuple>;

template <class T>
concept SavesItself = requires(T& value, StateWriter& writer, StateReader& reader) {
    std::as_const(value).save(writer);
    value.load(reader);
};
template <class T>
concept NamesItsState = requires(T& value) {
    { value.state() } -> IsTuple;
};

/// Two functions of the user, found by their argument.
template <class T>
concept SavedByUser =
    requires(const T& saved, T& loaded, StateWriter& writer, StateReader& reader) {
        save_state(writer, saved);
        load_state(reader, loaded);
    };

/// An aggregate that goes on from values of another form, which it had in an earlier version of the
/// program.
template <class T>
concept Migrates =
    requires(T& now, const typename T::saved_before& before) { now.go_on_from(before); };

/// It refers to elements that lie elsewhere.
template <class T>
concept View = is_of<T, std::basic_string_view> || is_of<T, std::reference_wrapper> ||
               (!is_array<T> && requires(const T& view) {
                   view.data();
                   view.size();
               });

/// A class whose value is its bytes, as far as the compiler can see.
template <class T>
consteval bool is_bytes() {
    if constexpr (std::is_pointer_v<T> || std::is_reference_v<T> || std::is_member_pointer_v<T> ||
                  std::is_same_v<T, std::nullptr_t> || View<T> || Migrates<T> ||
                  !std::is_trivially_copyable_v<T>) {
        return false;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        return true;
    } else if constexpr (std::is_array_v<T>) {
        return is_bytes<std::remove_all_extents_t<T>>();
    } else if constexpr (is_array<T>) {
        return is_bytes<typename T::value_type>();
    } else if constexpr (strid::detail::has_members<T>) {
        return []<class... Members>(strid::detail::MemberList<Members...>) {
            return (is_bytes<Members>() && ...);
        }(strid::detail::MembersOf<T>{});
    } else {
        return std::is_class_v<T> && !is_of<T, std::optional> && !is_of<T, std::variant> &&
               !is_of<T, std::tuple> && !is_of<T, std::pair>;
    }
}

template <class T>
concept Sequence = is_of<T, std::vector> || is_of<T, std::deque> || is_of<T, std::basic_string>;

/// Whether a type has a codec. A type within itself, such as a tree, is asked about once: `Seen`
/// are those whose answer is being found.
template <class T, class... Seen>
struct Codec {
    template <class Part>
    static consteval bool of() {
        return Codec<std::remove_cvref_t<Part>, T, Seen...>::exists();
    }
    template <template <class...> class List, class... Parts>
    static consteval bool of_all(std::type_identity<List<Parts...>>) {
        return (of<Parts>() && ...);
    }

    static consteval bool exists() {
        if constexpr ((std::is_same_v<T, Seen> || ...) || SavesItself<T> || SavedByUser<T>) {
            return true;
        } else if constexpr (NamesItsState<T>) {
            return of_all(std::type_identity<decltype(std::declval<T&>().state())>{});
        } else if constexpr (is_bytes<T>()) {
            return true;
        } else if constexpr (is_of<T, std::tuple> || is_of<T, std::pair> ||
                             is_of<T, std::variant>) {
            return of_all(std::type_identity<T>{});
        } else if constexpr (Map<T>) {
            return of<typename T::key_type>() && of<typename T::mapped_type>() &&
                   std::is_default_constructible_v<typename T::key_type> &&
                   std::is_default_constructible_v<typename T::mapped_type>;
        } else if constexpr (Associative<T> || Sequence<T> || is_of<T, std::optional>) {
            return of<typename T::value_type>() &&
                   std::is_default_constructible_v<typename T::value_type>;
        } else if constexpr (is_array<T>) {
            return of<typename T::value_type>();
        } else if constexpr (is_of<T, std::unique_ptr>) {
            using Owned = typename T::element_type;
            return !std::is_array_v<Owned> && !std::is_polymorphic_v<Owned> && of<Owned>() &&
                   std::is_default_constructible_v<Owned>;
        } else if constexpr (std::is_array_v<T>) {
            return of<std::remove_all_extents_t<T>>();
        } else if constexpr (Migrates<T>) {
            static_assert(strid::detail::has_members<T> && std::is_default_constructible_v<T>,
                          "saved_before is for aggregates of up to 20 members");
            return of<typename T::saved_before>() &&
                   of_all(std::type_identity<strid::detail::MembersOf<T>>{});
        } else if constexpr (strid::detail::has_members<T>) {
            return of_all(std::type_identity<strid::detail::MembersOf<T>>{});
        } else {
            return std::is_empty_v<T>;
        }
    }
};

/// Bytes without a gap: an array of such values is written at once.
template <class T>
inline constexpr bool is_dense =
    is_bytes<T>() && !SavesItself<T> && !SavedByUser<T> && !NamesItsState<T> &&
    (std::has_unique_object_representations_v<T> ||
     std::is_floating_point_v<T>)&&!std::is_same_v<T, bool>;

/// A lower bound of the bytes of a saved value; 0 only of a type that has none.
template <class T>
consteval std::size_t least_bytes() {
    if constexpr (SavesItself<T> || SavedByUser<T>) {
        return 1;
    } else if constexpr (NamesItsState<T>) {
        return []<class... Parts>(std::type_identity<std::tuple<Parts...>>) {
            return (std::size_t{0} + ... + least_bytes<std::remove_cvref_t<Parts>>());
        }(std::type_identity<decltype(std::declval<T&>().state())>{});
    } else if constexpr (std::is_empty_v<T>) {
        return 0;
    } else if constexpr (is_dense<T>) {
        return sizeof(T);
    } else {
        return 1;
    }
}

}  // namespace strid::state
