// SPDX-License-Identifier: Apache-2.0
//
// The as-of join of two streams by key: each left record gets the right record that was valid at
// its time.
//
// Threads: as Stream.
#pragma once

#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/window/joins/keyed_as_of_join.hpp>
#include <strid/stream/join_keys.hpp>
#include <strid/stream/joinable.hpp>
#include <strid/stream/share.hpp>
#include <strid/stream/two_sides.hpp>
#include <strid/window/join_options.hpp>

namespace strid {

namespace graph {

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

}  // namespace graph

/// The as-of join of two streams by key: each left record with the latest right record of the same
/// key whose time is at or before its own. Both streams must have times (`event_time`). A left
/// record waits until both watermarks have passed its time, so right records may come out of order.
///
///     as_of(std::move(trades), std::move(quotes), on<&Trade::symbol, &Quote::symbol>(),
///           [](const Trade& trade, const Quote& quote) { return Priced{trade.price, quote.bid}; },
///           {.tolerance = 1s})
///     auto [priced, late_trades, late_quotes] =
///         std::move(trades).as_of(std::move(quotes), on<...>(), make_priced, late_apart);
///
/// `pair` is a function of both records; or `U f(const L&, const R*)`, which a left join calls with
/// a null pointer for a left record without a partner. Of right records with equal key and time the
/// last one is taken, or with `ties_by` the greatest.
///
/// The results of a key come in the order of the times of the left records; equal times in the
/// order of arrival. Without lateness no result lies behind the watermark by the time of its left
/// record. With lateness it may, by as much.
///
/// Records are kept longer than their batches, so text fields must own their text (std::array<char,
/// N>, std::string). Each key keeps the right records that may still be joined: with a tolerance
/// for that long; without one the newest is kept until the end of the run. Records that are late by
/// more than the lateness of the options are not joined. They are counted, or with `late_apart`
/// each side has a stream of them.
///
/// Throws GraphError for streams of two graphs, for a negative tolerance or lateness, for a full
/// join, or for a left join whose function does not accept a missing right record.
template <class Left, class Right, class Keys, class F>
auto as_of(Left&& left, Right&& right, Keys keys, F pair, const AsOfOptions& options = {}) {
    return graph::as_of_streams(std::forward<Left>(left), std::forward<Right>(right),
                                std::move(keys), std::move(pair), share::by_key, options);
}
/// The same, with the way in which replicas share the work, and late records apart where it says
/// so.
template <class Left, class Right, class Keys, class F, WindowWay Way>
auto as_of(Left&& left, Right&& right, Keys keys, F pair, Way way,
           const AsOfOptions& options = {}) {
    return graph::as_of_streams(std::forward<Left>(left), std::forward<Right>(right),
                                std::move(keys), std::move(pair), way, options);
}

}  // namespace strid
