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

#include <utility>

#include <strid/engine/plan/join_streams.hpp>
#include <strid/stream/join_keys.hpp>
#include <strid/stream/joinable.hpp>
#include <strid/stream/share.hpp>
#include <strid/window/join_options.hpp>
#include <strid/window/pair_function.hpp>
#include <strid/window/spec.hpp>

namespace strid {

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
