// SPDX-License-Identifier: Apache-2.0
//
// The join of two streams by key and time. The bound says which pairs there are; the way
// (stream/share.hpp) says how replicas share the work:
//
//              within(lower, upper)              TimeWindows
//     by_key   each replica has the records      each replica has the windows
//              of its keys                       of its keys
//     farmed   every replica has every record,   the same, and a replica makes
//              and joins the left records that   the pairs of every n-th window
//              their times give to it
//
// In all four, late records are counted or are streams of their own. Farmed joins let one key keep
// every core busy: every replica has every record, in batches that all replicas read, as for farmed
// windows. One replica before them decides which records are late, because the replicas might not
// agree.
//
// Threads: as Stream.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/plan/shared_windows.hpp>
#include <strid/engine/plan/shared_work.hpp>
#include <strid/engine/window/joins/keyed_interval_join.hpp>
#include <strid/engine/window/operators/keyed_time_windows.hpp>
#include <strid/engine/window/operators/late_filter.hpp>
#include <strid/engine/window/operators/ordered_results.hpp>
#include <strid/stream/join_keys.hpp>
#include <strid/stream/joinable.hpp>
#include <strid/stream/share.hpp>
#include <strid/stream/two_sides.hpp>
#include <strid/window/pairs.hpp>

namespace strid {

namespace graph {

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

}  // namespace graph

/// Joins two streams by key: each left record with every right record of the same key whose time is
/// near its own, as the bound says. Both streams must have times (`event_time`).
///
///     join(std::move(orders), std::move(payments), on<&Order::number, &Payment::order>(),
///          within(0s, 60s), [](const Order& o, const Payment& p) { return Paid{o, p}; })
///     auto [matches, late_bids, late_asks] =
///         std::move(bids).join(std::move(asks), on<&Bid::item, &Ask::item>(),
///                              TimeWindows::tumbling(1s), match, share::farmed | late_apart);
///
/// `within(lower, upper)`, or a JoinInterval: the right time minus the left one lies between the
/// two. State is kept until both watermarks have passed it. A pair comes out once, as soon as both
/// records are there. A record is late if it lies behind the watermark of its own stream by more
/// than the lateness of the options.
///
/// TimeWindows: both lie in the same window; a pair that lies in several windows comes out of each.
/// The results are WindowResult<K, U>. They come when the watermarks pass the end of the window,
/// and again, only the new pairs, for each record within the lateness. A record is late if all its
/// windows are closed. With LateBy::own_input it is late as soon as one of its windows is over by
/// the watermark of its own input. Without it, which records are late depends on the run where one
/// stream runs ahead of the other.
///
/// Late records are not joined. They are counted, or with `late_apart` each side has a stream of
/// them: `auto [pairs, late_left, late_right] = ...`.
///
/// `share::farmed` is for streams where few keys have most of the records. Windows: replica k mod n
/// joins window k of every key. Results come in the order of their ends, but for those that records
/// within the lateness add. An interval: one replica joins each left record, chosen by its time,
/// and all replicas keep the right records. So put the larger side, or the one with more partners,
/// on the left.
///
/// Records are kept longer than their batches, so text fields must own their text (std::array<char,
/// N>, std::string).
///
/// The watermark is passed on unchanged. As the time of a pair use the later of its two times,
/// which is never behind the watermark. Downstream windows that use the earlier one, or the time of
/// a record without a partner, would take some results for late.
///
/// Throws Error for an empty interval. Throws GraphError for streams of two graphs, for a negative
/// lateness, for an outer join whose function does not accept a missing side, and for a farmed full
/// join within an interval: no single replica has all partners of a right record.
template <class Left, class Right, class Keys, class Bound, class F>
auto join(Left&& left, Right&& right, Keys keys, Bound bound, F pair,
          const JoinOptions& options = {}) {
    return graph::join_streams(std::forward<Left>(left), std::forward<Right>(right),
                               std::move(keys), bound, std::move(pair), share::by_key, options);
}
/// The same, with the way in which replicas share the work, and late records apart where it says
/// so.
template <class Left, class Right, class Keys, class Bound, class F, WindowWay Way>
auto join(Left&& left, Right&& right, Keys keys, Bound bound, F pair, Way way,
          const JoinOptions& options = {}) {
    return graph::join_streams(std::forward<Left>(left), std::forward<Right>(right),
                               std::move(keys), bound, std::move(pair), way, options);
}

}  // namespace strid
