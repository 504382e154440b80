// SPDX-License-Identifier: Apache-2.0
//
// The members of a plain aggregate, found at compile time without a macro or a registration. The
// engine needs them for every type of record and state: does it refer to text, what does it own on
// the heap, can it be hashed. Compile time only.
//
// The members are counted by trying how many initialisers an aggregate takes; an array takes
// several, and is found by the braces that enclose all of them. An aggregate that has a base, or
// more members than `members_max`, is not decomposed (`has_members` is false) and is never an
// error. A fuller library (Boost.PFR) reports an error for these, and costs every file more.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace strid::detail {

inline constexpr std::size_t members_max = 20;
inline constexpr std::size_t initialisers_max = 64;

/// Converts to any type that a member is initialised from.
struct AnyCopied {
    std::size_t index;
    template <class T>
    operator T&() const& noexcept {
        __builtin_unreachable();
    }
};
struct AnyMoved {
    std::size_t index;
    template <class T>
    operator T() const& noexcept {
        __builtin_unreachable();
    }
};
template <class Whole>
using Any = std::conditional_t<std::is_copy_constructible_v<Whole>, AnyCopied, AnyMoved>;

template <class Whole>
struct AnyBase {
    template <class T>
        requires(std::is_base_of_v<T, Whole> && !std::is_same_v<T, Whole>)
    operator T&() const& noexcept {
        __builtin_unreachable();
    }
};

/// Only a member that accepts anything (std::any) is initialised from this.
struct NoMember {};

template <class T, std::size_t... i>
constexpr bool takes(std::index_sequence<i...>) {
    return requires { T{Any<T>{i}...}; };
}
template <class T, std::size_t... before, std::size_t... within, std::size_t... behind>
constexpr bool takes_braces(std::index_sequence<before...>, std::index_sequence<within...>,
                            std::index_sequence<behind...>) {
    return requires { T{Any<T>{before}..., {Any<T>{within}...}, Any<T>{behind}...}; };
}

/// Whether the first initialiser is that of a base class.
template <class T, std::size_t... behind>
constexpr bool begins_with_base(std::index_sequence<behind...>) {
    constexpr bool takes_base = requires { T{AnyBase<T>{}, Any<T>{behind}...}; };
    constexpr bool takes_anything = requires { T{NoMember{}, Any<T>{behind}...}; };
    return takes_base && !takes_anything;
}

/// The least number of initialisers, braces left out, that an aggregate takes: more than none if a
/// member has no default. `initialisers_max` if there is no such number.
template <class T, std::size_t count = 0>
constexpr std::size_t initialisers_least() {
    if constexpr (count == initialisers_max || takes<T>(std::make_index_sequence<count>{})) {
        return count;
    } else {
        return initialisers_least<T, count + 1>();
    }
}
/// Whether the aggregate takes this many initialisers behind the first.
template <class T>
inline constexpr std::size_t behind_first =
    initialisers_least<T>() == 0 ? 0 : initialisers_least<T>() - 1;
/// The largest number of initialisers.
template <class T, std::size_t count = initialisers_least<T>()>
constexpr std::size_t initialisers() {
    if constexpr (count < initialisers_max && takes<T>(std::make_index_sequence<count + 1>{})) {
        return initialisers<T, count + 1>();
    } else {
        return count;
    }
}

/// Whether braces around some of the initialisers from `at` on are accepted.
template <class T, std::size_t all, std::size_t at, std::size_t count = 2>
constexpr bool takes_several() {
    if constexpr (at + count > all) {
        return false;
    } else {
        return takes_braces<T>(std::make_index_sequence<at>{}, std::make_index_sequence<count>{},
                               std::make_index_sequence<all - at - count>{}) ||
               takes_several<T, all, at, count + 1>();
    }
}
/// The number of initialisers of the member that begins with number `at`: several if it is an
/// array. 0 if that cannot be found out: an array of a type without a default, or a type that looks
/// like one.
template <class T, std::size_t all, std::size_t at, std::size_t count = 1>
constexpr std::size_t initialisers_of_member() {
    if constexpr (at + count > all) {
        return takes_several<T, all, at>() ? 0 : 1;
    } else if constexpr (takes_braces<T>(std::make_index_sequence<at>{}, std::index_sequence<>{},
                                         std::make_index_sequence<all - at - count>{})) {
        return count;
    } else {
        return initialisers_of_member<T, all, at, count + 1>();
    }
}

template <class T, std::size_t all, std::size_t at = 0>
constexpr std::size_t count_members() {
    if constexpr (at >= all) {
        return 0;
    } else {
        constexpr std::size_t own = initialisers_of_member<T, all, at>();
        if constexpr (own == 0) return members_max + 1;
        return 1 + count_members<T, all, at + (own == 0 ? all : own)>();
    }
}

/// The number of members of an aggregate; 0 for a type that is not decomposed.
template <class T>
constexpr std::size_t member_count() {
    if constexpr (!std::is_aggregate_v<T> || !std::is_class_v<T> || std::is_empty_v<T>) {
        return 0;
    } else if constexpr (initialisers_least<T>() == initialisers_max) {
        return 0;
    } else if constexpr (begins_with_base<T>(std::make_index_sequence<behind_first<T>>{})) {
        return 0;
    } else {
        constexpr std::size_t all = initialisers<T>();
        if constexpr (all == initialisers_max ||
                      takes_braces<T>(std::make_index_sequence<all>{}, std::index_sequence<>{},
                                      std::index_sequence<>{})) {
            return 0;  // there is more that only braces initialise
        } else {
            constexpr std::size_t members = count_members<T, all>();
            return members <= members_max ? members : 0;
        }
    }
}

template <class T>
inline constexpr bool has_members = member_count<std::remove_cv_t<T>>() != 0;

/// Calls `visit(members...)` with the members of an aggregate, in their order.
template <class T, class Visit>
constexpr decltype(auto) visit_members(T& whole, Visit&& visit) {
    constexpr std::size_t count = member_count<std::remove_cv_t<T>>();
    static_assert(count != 0);
    if constexpr (count == 1) {
        auto& [a] = whole;
        return visit(a);
    } else if constexpr (count == 2) {
        auto& [a, b] = whole;
        return visit(a, b);
    } else if constexpr (count == 3) {
        auto& [a, b, c] = whole;
        return visit(a, b, c);
    } else if constexpr (count == 4) {
        auto& [a, b, c, d] = whole;
        return visit(a, b, c, d);
    } else if constexpr (count == 5) {
        auto& [a, b, c, d, e] = whole;
        return visit(a, b, c, d, e);
    } else if constexpr (count == 6) {
        auto& [a, b, c, d, e, f] = whole;
        return visit(a, b, c, d, e, f);
    } else if constexpr (count == 7) {
        auto& [a, b, c, d, e, f, g] = whole;
        return visit(a, b, c, d, e, f, g);
    } else if constexpr (count == 8) {
        auto& [a, b, c, d, e, f, g, h] = whole;
        return visit(a, b, c, d, e, f, g, h);
    } else if constexpr (count == 9) {
        auto& [a, b, c, d, e, f, g, h, i] = whole;
        return visit(a, b, c, d, e, f, g, h, i);
    } else if constexpr (count == 10) {
        auto& [a, b, c, d, e, f, g, h, i, j] = whole;
        return visit(a, b, c, d, e, f, g, h, i, j);
    } else if constexpr (count == 11) {
        auto& [a, b, c, d, e, f, g, h, i, j, k] = whole;
        return visit(a, b, c, d, e, f, g, h, i, j, k);
    } else if constexpr (count == 12) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l] = whole;
        return visit(a, b, c, d, e, f, g, h, i, j, k, l);
    } else if constexpr (count == 13) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = whole;
        return visit(a, b, c, d, e, f, g, h, i, j, k, l, m);
    } else if constexpr (count == 14) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = whole;
        return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
    } else if constexpr (count == 15) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = whole;
        return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
    } else if constexpr (count == 16) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = whole;
        return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
    } else if constexpr (count == 17) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = whole;
        return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
    } else if constexpr (count == 18) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = whole;
        return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
    } else if constexpr (count == 19) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = whole;
        return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
    } else if constexpr (count == 20) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = whole;
        return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
    }
}

template <class... Members>
struct MemberList {};

struct ListMembers {
    template <class... Members>
    constexpr MemberList<std::remove_cv_t<Members>...> operator()(Members&...) const {
        return {};
    }
};

/// The types of the members of an aggregate, as MemberList.
template <class T>
using MembersOf = decltype(visit_members(std::declval<const T&>(), ListMembers{}));

}  // namespace strid::detail
