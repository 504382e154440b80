// SPDX-License-Identifier: Apache-2.0
//
// The checks of the arguments that bring two streams together.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>

#include <strid/engine/base/member_pointer.hpp>
#include <strid/engine/operator/checks.hpp>
#include <strid/operator/per_key.hpp>
#include <strid/operator/time_order.hpp>
#include <strid/stream/join_keys.hpp>

namespace strid::graph {

template <class Keys>
inline constexpr bool is_join_keys = false;
template <class LeftKey, class RightKey, class TieOf>
inline constexpr bool is_join_keys<JoinKeys<LeftKey, RightKey, TieOf>> = true;

template <class S>
concept StreamHandle = requires {
    typename std::remove_cvref_t<S>::record_type;
    typename std::remove_cvref_t<S>::time_type;
};

/// As operators/checks.hpp, of what brings two streams together.
template <class Left, class Right>
consteval bool takes_two_streams() {
    if constexpr (!StreamHandle<Left> || !StreamHandle<Right>) {
        static_assert(StreamHandle<Left> && StreamHandle<Right>,
                      "join, as_of and connect take two streams; on(...) gives their keys, in the "
                      "place of key_by");
        return false;
    } else {
        constexpr bool moved =
            std::is_rvalue_reference_v<Left&&> && std::is_rvalue_reference_v<Right&&>;
        static_assert(moved,
                      "join, as_of and connect consume their streams: pass them with "
                      "std::move");
        return moved;
    }
}

/// Records `L` and `R` have keys by them.
template <class Keys, class L, class R>
consteval bool takes_join_keys() {
    if constexpr (!is_join_keys<Keys>) {
        static_assert(
            is_join_keys<Keys>,
            "two streams are joined by on<&Left::key, &Right::key>(), or by on(...) of two "
            "functions, or of one that suits both");
        return false;
    } else {
        using LeftKey = decltype(Keys::left);
        using RightKey = decltype(Keys::right);
        if constexpr (!operators::takes_key<LeftKey, L>() || !operators::takes_key<RightKey, R>()) {
            return false;
        } else {
            constexpr bool same =
                std::same_as<operators::KeyType<LeftKey, L>, operators::KeyType<RightKey, R>>;
            static_assert(
                same,
                "two streams are joined by keys of one type: give on(...) a function that "
                "returns the type of the other's");
            return same;
        }
    }
}

/// Nothing says which of equal records counts: all do.
template <class Keys>
consteval bool has_no_ties() {
    constexpr bool none = std::same_as<decltype(Keys::tie_of), operators::ByArrival>;
    static_assert(none, "ties_by is for as_of, where one of several right records counts");
    return none;
}
template <class TieOf, class R>
concept TieFunction = std::copy_constructible<TieOf> && std::invocable<TieOf&, const R&> &&
                      requires(TieOf& tie_of, const R& record) {
                          {
                              std::invoke(tie_of, record) < std::invoke(tie_of, record)
                          } -> std::convertible_to<bool>;
                      };
template <class Keys, class R>
consteval bool takes_ties() {
    using TieOf = decltype(Keys::tie_of);
    if constexpr (std::is_member_pointer_v<TieOf>) {
        refuse_member_pointer<TieOf>();
        return false;
    } else {
        static_assert(TieFunction<TieOf, R>,
                      "ties_by needs a member of the right records, or a function of them, whose "
                      "values have an order: the greatest counts");
        return TieFunction<TieOf, R>;
    }
}

}  // namespace strid::graph
