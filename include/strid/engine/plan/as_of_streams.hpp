// SPDX-License-Identifier: Apache-2.0
//
// As-of joins of two streams by key (stream/as_of_join.hpp).
//
// Threads: as Stream.
#pragma once

#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/plan/join_checks.hpp>
#include <strid/engine/plan/joining.hpp>
#include <strid/engine/plan/two_sides.hpp>
#include <strid/engine/plan/way_of.hpp>
#include <strid/engine/window/joins/keyed_as_of_join.hpp>
#include <strid/stream/join_keys.hpp>
#include <strid/stream/joinable.hpp>
#include <strid/stream/share.hpp>
#include <strid/window/join_options.hpp>
#include <strid/window/pair_function.hpp>

namespace strid::graph {

template <class L, class R, class F>
void check_as_of(const AsOfOptions& options) {
    if (options.kind == JoinKind::full) {
        throw GraphError("an as-of join is inner or left: a right record waits for no partner");
    }
    if (options.kind == JoinKind::left && window::needs_both<F, L, R>) {
        throw GraphError(
            "a left as-of join needs a function of a pointer to the right record: it may be null");
    }
    if (options.lateness < Duration::zero()) {
        throw GraphError("the lateness of a join must not be negative");
    }
    if (options.tolerance && *options.tolerance < Duration::zero()) {
        throw GraphError("the tolerance of an as-of join must not be negative");
    }
}

template <class F, class L, class R>
inline constexpr bool makes_as_of = false;
template <class F, class L, class R>
    requires AsOfFunction<F, L, R>
inline constexpr bool makes_as_of<F, L, R> = !std::is_void_v<window::AsOfResult<F, L, R>>;

/// Checks the arguments of a join of records `L` and `R` (see engine/operator/checks.hpp).
template <class F, class L, class R, class By>
consteval bool takes_as_of() {
    constexpr bool pairs = makes_as_of<F, L, R>;
    static_assert(pairs,
                  "as_of needs a function of a left record and the right one that it meets: U "
                  "f(const L&, const R&), or U f(const L&, const R*), where a left join has null");
    constexpr bool by_key = By::share == Share::by_key;
    static_assert(by_key,
                  "an as-of join is by key: a record is joined with the last one of its key");
    return pairs && by_key;
}

template <class Left, class Right, class Keys, class F, class Way>
auto as_of_streams(Left&& left, Right&& right, Keys keys, F pair, Way way,
                   const AsOfOptions& options) {
    if constexpr (takes_two_streams<Left, Right>()) {
        using L = typename Left::record_type;
        using R = typename Right::record_type;
        using LeftTime = typename Left::time_type;
        using RightTime = typename Right::time_type;
        using By = decltype(way_of<Share::by_key>(way));
        if constexpr (takes_join_keys<Keys, L, R>()) {
            if constexpr (takes_ties<Keys, R>() &&
                          operators::knows_time<typename Left::time_type, L>() &&
                          operators::knows_time<typename Right::time_type, R>() &&
                          takes_as_of<F, L, R, By>()) {
                check_owns_text<L>();
                check_owns_text<R>();
                check_as_of<L, R, F>(options);
                auto tie_of = std::move(keys.tie_of);
                auto sides =
                    two_sides(std::move(left), std::move(right), std::move(keys), options.name);
                const auto& time_of = sides.time_of();
                using KeyOf = typename decltype(sides)::KeyOf;
                window::KeyedAsOfJoin<L, R, KeyOf, LeftTime, RightTime, decltype(tie_of), F> one{
                    sides.key_of(),    time_of.left,    time_of.right,
                    std::move(tie_of), std::move(pair), options};
                const OperatorOptions of_join{.name = options.name,
                                              .parallelism = options.parallelism};
                if constexpr (By::late_is_apart) {
                    return sides.pairs_and_late(
                        std::move(sides).by_key().apply(with_late<L, R>(std::move(one)), of_join));
                } else {
                    return std::move(sides).by_key().apply(std::move(one), of_join);
                }
            }
        }
    }
}

}  // namespace strid::graph
