// SPDX-License-Identifier: Apache-2.0
//
// The as-of join of two streams by key: each left record gets the right record that was valid at
// its time.
//
// Threads: as Stream.
#pragma once

#include <utility>

#include <strid/engine/plan/as_of_streams.hpp>
#include <strid/stream/join_keys.hpp>
#include <strid/stream/joinable.hpp>
#include <strid/stream/share.hpp>
#include <strid/window/join_options.hpp>
#include <strid/window/pair_function.hpp>

namespace strid {

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
