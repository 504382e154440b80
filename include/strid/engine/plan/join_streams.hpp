// SPDX-License-Identifier: Apache-2.0
//
// Joins of two streams by the table of windows: by key or farmed, within an interval or a window
// (stream/join.hpp).
//
// Threads: as Stream.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/plan/join_checks.hpp>
#include <strid/engine/plan/joining.hpp>
#include <strid/engine/plan/shared_windows.hpp>
#include <strid/engine/plan/shared_work.hpp>
#include <strid/engine/plan/two_sides.hpp>
#include <strid/engine/plan/way_of.hpp>
#include <strid/engine/window/joins/keyed_interval_join.hpp>
#include <strid/engine/window/joins/pairs.hpp>
#include <strid/engine/window/operators/keyed_time_windows.hpp>
#include <strid/engine/window/operators/late_filter.hpp>
#include <strid/engine/window/operators/ordered_results.hpp>
#include <strid/stream/join_keys.hpp>
#include <strid/stream/joinable.hpp>
#include <strid/stream/share.hpp>
#include <strid/window/pair_function.hpp>

namespace strid::graph {

/// The table. Each function uses the sides up.
template <class Sides, class F>
class Joins {
    using L = typename Sides::L;
    using R = typename Sides::R;
    using Either = typename Sides::Either;
    using KeyOf = typename Sides::KeyOf;
    using TimeOf = typename Sides::TimeOf;
    using Pairs = window::WindowJoin<L, R, F>;

  public:
    Joins(Sides sides, F pair, const JoinOptions& options)
        : sides_(std::move(sides)), pair_(std::move(pair)), options_(options) {
        if (options.kind != JoinKind::inner && !window::takes_pointers<F, L, R>) {
            throw GraphError("an outer join needs a function of two pointers: one may be null");
        }
        if (options.lateness < Duration::zero()) {
            throw GraphError("the lateness of a join must not be negative");
        }
    }

    template <bool late_is_apart>
    auto by_key(const JoinInterval& interval) {
        auto join = pairs_within(interval);
        if constexpr (late_is_apart) {
            return sides_.pairs_and_late(
                std::move(sides_).by_key().apply(with_late<L, R>(std::move(join)), of_join()));
        } else {
            return std::move(sides_).by_key().apply(std::move(join), of_join());
        }
    }
    template <bool late_is_apart>
    auto by_key(const window::TimeWindows& windows) {
        auto keyed = std::move(sides_).by_key().timed_by(sides_.time_of());
        Pairs pairs{std::move(pair_), options_.kind};
        if constexpr (late_is_apart) {
            auto [results, late] =
                std::move(keyed).window(windows, std::move(pairs), late_apart, of_windows());
            return sides_.pairs_and_late(std::move(results), std::move(late));
        } else {
            return std::move(keyed).window(windows, std::move(pairs), of_windows());
        }
    }

    template <bool late_is_apart>
    auto farmed(const JoinInterval& interval) {
        if (options_.kind == JoinKind::full) {
            throw GraphError(
                "a full join within an interval is by key: no replica alone has all "
                "partners of a right record");
        }
        return everywhere<late_is_apart>(
            window::LateByWatermark{options_.lateness}, pairs_within(interval),
            "the replicas share the left records of every key", std::identity{});
    }
    template <bool late_is_apart>
    auto farmed(const window::TimeWindows& windows) {
        using Windows = window::KeyedTimeWindows<Either, KeyOf, operators::KeyType<KeyOf, Either>,
                                                 TimeOf, Pairs>;
        using Result = typename Windows::Result;
        WindowOptions options = of_windows();
        options.late_by = LateBy::slowest_input;  // which records are late has been said
        return everywhere<late_is_apart>(
            window::LateByWindows{windows, options_.lateness, options_.late_by},
            Windows{windows, sides_.key_of(), sides_.time_of(),
                    Pairs{std::move(pair_), options_.kind}, options},
            "the replicas take turns with the windows of every key", [this](auto results) {
                return std::move(results).apply(window::OrderedByTime<Result>{},
                                                sides_.part("collector", 1));
            });
    }

  private:
    auto pairs_within(const JoinInterval& interval) {
        using Join = window::KeyedIntervalJoin<L, R, KeyOf, typename Sides::LeftTime,
                                               typename Sides::RightTime, F>;
        const TimeOf& time_of = sides_.time_of();
        return Join{interval,      sides_.key_of(),  time_of.left,
                    time_of.right, std::move(pair_), options_};
    }

    /// The operator whose replicas get every record that is not late, and the operators after it.
    template <bool late_is_apart, class Rule, class Operator, class Finish>
    auto everywhere(Rule rule, Operator one, const char* note, const Finish& finish) {
        using LateFilter = window::LateFilter<Either, TimeOf, Rule>;
        one.farm();
        const auto joined = [&](auto in_time) {
            return finish(SharedWork::then(SharedWork::hashed(std::move(in_time), sides_.key_of(),
                                                              sides_.part("hash", 1), true)
                                               .broadcast(),
                                           std::move(one), of_join(), "parallel_join", note));
        };
        LateFilter late_filter{sides_.time_of(), std::move(rule)};
        const OperatorOptions of_late_filter = sides_.part("in-time", 1);
        auto both = std::move(sides_).merged();
        if constexpr (late_is_apart) {
            auto [in_time, late] = records_and_late<Either>(
                std::move(both).apply(with_late<Either>(std::move(late_filter)), of_late_filter),
                options_.name, sides_.time_of(), sides_.time_of());
            auto pairs = joined(std::move(in_time));
            using Pair = typename decltype(pairs)::record_type;
            return sides_.pairs_and_late(Stream<Pair>{std::move(pairs)}, std::move(late));
        } else {
            return joined(std::move(both).apply(std::move(late_filter), of_late_filter));
        }
    }

    [[nodiscard]] OperatorOptions of_join() const {
        return {.name = options_.name, .parallelism = options_.parallelism};
    }
    [[nodiscard]] WindowOptions of_windows() const {
        return {.name = options_.name,
                .parallelism = options_.parallelism,
                .lateness = options_.lateness,
                .at_end = options_.at_end,
                .late_by = options_.late_by};
    }

    Sides sides_;
    F pair_;
    const JoinOptions& options_;
};

template <class F, class L, class R>
inline constexpr bool makes_pairs = false;
template <class F, class L, class R>
    requires PairFunction<F, L, R>
inline constexpr bool makes_pairs<F, L, R> =
    !std::is_void_v<typename window::PairResult<F, L, R>::type>;

/// Checks the arguments of a join of records `L` and `R` (see engine/operator/checks.hpp).
template <class Bound, class F, class L, class R, class By>
consteval bool takes_join() {
    constexpr bool bound =
        std::same_as<Bound, JoinInterval> || std::same_as<Bound, window::TimeWindows>;
    static_assert(bound,
                  "a join needs an interval of time: within(lower, upper), a JoinInterval, or "
                  "TimeWindows");
    constexpr bool pairs = makes_pairs<F, L, R>;
    static_assert(pairs,
                  "a join needs a function of a left and a right record, U f(const L&, const R&), "
                  "or of pointers to them, of which one is null in an outer join");
    constexpr bool by_key = By::share == Share::by_key || By::share == Share::farmed;
    static_assert(by_key,
                  "a join is by key or share::farmed: records meet whole, nothing is combined "
                  "before");
    return bound && pairs && by_key;
}

template <class Left, class Right, class Keys, class Bound, class F, class Way>
auto join_streams(Left&& left, Right&& right, Keys keys, const Bound& bound, F pair, Way way,
                  const JoinOptions& options) {
    if constexpr (takes_two_streams<Left, Right>()) {
        using L = typename Left::record_type;
        using R = typename Right::record_type;
        using By = decltype(way_of<Share::by_key>(way));
        if constexpr (takes_join_keys<Keys, L, R>()) {
            if constexpr (has_no_ties<Keys>() &&
                          operators::knows_time<typename Left::time_type, L>() &&
                          operators::knows_time<typename Right::time_type, R>() &&
                          takes_join<Bound, F, L, R, By>()) {
                check_owns_text<L>();
                check_owns_text<R>();
                auto sides =
                    two_sides(std::move(left), std::move(right), std::move(keys), options.name);
                Joins<decltype(sides), F> joins{std::move(sides), std::move(pair), options};
                if constexpr (By::share == Share::farmed) {
                    return joins.template farmed<By::late_is_apart>(bound);
                } else {
                    return joins.template by_key<By::late_is_apart>(bound);
                }
            }
        }
    }
}

}  // namespace strid::graph
