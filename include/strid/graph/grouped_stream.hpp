// SPDX-License-Identifier: Apache-2.0
//
// Windows whose work is shared otherwise than by key: the distributions of papers 1 and 2. A stream
// is grouped, by a key or as a whole, but not partitioned: one group can keep every core busy.
//
//     parallel windows     every replica has every record (one batch that all of them read) and
//                          computes every n-th window: window farming. For any function; best
//                          where the function is much and the records are few.
//     combined windows     every replica adds the records that it has to states of panes before
//                          anything is sent; a second level combines these to windows. For
//                          commutative aggregates with a small state and keys that are numbers.
//     paned windows        any replica takes any batch and computes states of panes; a second
//                          level combines them to windows. For commutative aggregates; best for
//                          states that are costly to add to. Of counts: every n-th pane.
//     map-reduce windows   any replica takes any batch and computes its part of each window; a
//                          second level combines the parts. As paned windows, but a window's state
//                          is computed by the first level. Of counts: every n-th record.
//
// Threads: as Stream.
#pragma once

#include <utility>

#include <strid/graph/keyed_stream.hpp>
#include <strid/graph/shared_windows.hpp>
#include <strid/window/aggregates/partial.hpp>
#include <strid/window/operators/keyed_count_windows.hpp>
#include <strid/window/operators/partial_panes.hpp>
#include <strid/window/result.hpp>

namespace strid {

/// A stream grouped by key. Each window operator gives a stream of WindowResults. Farmed windows of
/// time, and windows of time and sessions of the whole stream, are in the order of their ends, but
/// for those that fire again. All others (combined, paned, map-reduce, by key, of counts) are in
/// order for each key only: of time by their ends, of counts by their positions.
template <class Upstream, class KeyOf>
class GroupedStream : graph::SharedWindows<Upstream, KeyOf> {
    using Windows = graph::SharedWindows<Upstream, KeyOf>;
    using typename Windows::K;
    using typename Windows::T;
    template <class A>
    using TimeResult = typename Windows::template TimeResult<A>;
    template <class A>
    using CountResult = typename Windows::template CountResult<A>;

  public:
    GroupedStream(Upstream upstream, KeyOf key_of)
        : Windows(std::move(upstream), std::move(key_of)) {}

    /// Windows of event time, in the way that suits the function and the windows; by key where one
    /// replica is asked for, or records are late by their own input.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] Stream<TimeResult<A>> window(window::TimeWindows windows, TimeOf time_of,
                                               A aggregate, WindowOptions options = {}) && {
        if (options.parallelism == 1) {
            return by_key(windows, std::move(time_of), std::move(aggregate), options, alone);
        }
        if (options.late_by == LateBy::own_input) {
            return by_key(windows, std::move(time_of), std::move(aggregate), options, by_own_input);
        }
        if constexpr (!window::has_parts<A>) {
            return farmed(windows, std::move(time_of), std::move(aggregate), options,
                          "farmed: the function needs whole windows, the replicas take turns");
        } else if constexpr (!window::is_commutative<A> && window::has_small_state<A>) {
            return by_key(windows, std::move(time_of), std::move(aggregate), options,
                          "not shared: a record is little work (any_order(...) would share it)");
        } else if constexpr (!window::is_commutative<A>) {
            return farmed(windows, std::move(time_of), std::move(aggregate), options,
                          "farmed: parts combine in their order only, the replicas take turns");
        } else if constexpr (window::combines_before_sending<A, K>) {
            return combined(windows, std::move(time_of), std::move(aggregate), options,
                            "combined: adding to a small state costs less than sending a record");
        } else if (windows.slide() / windows.pane() >= window::panes_worth_combining &&
                   !windows.is_calendar()) {
            return map_reduce(windows, std::move(time_of), std::move(aggregate), options,
                              "map-reduce: a part of a window is sent for its many panes");
        } else {
            return paned(windows, std::move(time_of), std::move(aggregate), options,
                         "paned: the aggregate is commutative, panes of any replica combine");
        }
    }
    /// Windows of counts: by key where one replica is asked for, or a record is hardly more than an
    /// addition to a small state that can be combined (window::is_light), which sharing would only
    /// add to; else paned where they overlap, so that a record is added to one state only; parallel
    /// windows where they do not or have panes of a few records, for folds and for full content.
    template <window::FunctionOf<T> A>
    [[nodiscard]] Stream<CountResult<A>> window(window::CountWindows windows, A aggregate,
                                                WindowOptions options = {}) && {
        if (options.parallelism == 1) {
            return by_key(windows, std::move(aggregate), options, alone);
        }
        if constexpr (window::has_parts<A>) {
            if (window::is_light<A>(windows)) {
                return by_key(windows, std::move(aggregate), options,
                              "not shared: that would cost more");
            }
            if (overlap(windows) && windows.pane() >= window::pane_worth_sending) {
                return paned(windows, std::move(aggregate), options,
                             "paned: a record of overlapping windows is added once");
            }
        }
        return farmed(windows, std::move(aggregate), options,
                      "farmed: whole windows, the replicas take turns");
    }

    /// The window of everything with a trigger: each group's by the replica that owns it.
    template <class F, window::FunctionOf<T> A>
        requires window::TriggerOf<F, T>
    [[nodiscard]] auto window(window::GlobalWindows<F> windows, A aggregate,
                              WindowOptions options = {}) && {
        return keyed().window(std::move(windows), std::move(aggregate), second_level(options));
    }
    /// Sessions: each group's by the replica that owns it.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] auto window(window::SessionWindows windows, TimeOf time_of, A aggregate,
                              WindowOptions options = {}) && {
        return keyed().window(windows, std::move(time_of), std::move(aggregate),
                              second_level(options));
    }

    /// The same windows of event time with the late records as a stream of their own, `auto
    /// [results, late] = ...`, in one of the ways in which these are whole: by key where a record
    /// is little work, else parallel windows.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    WindowStreams<TimeResult<A>, T> window(window::TimeWindows windows, TimeOf time_of, A aggregate,
                                           LateApart, WindowOptions options = {}) && {
        if (options.parallelism == 1) {
            return by_key_with_late(windows, std::move(time_of), std::move(aggregate), options,
                                    alone);
        }
        if (options.late_by == LateBy::own_input) {
            return by_key_with_late(windows, std::move(time_of), std::move(aggregate), options,
                                    by_own_input);
        }
        if constexpr (window::has_parts<A> && window::has_small_state<A>) {
            return by_key_with_late(windows, std::move(time_of), std::move(aggregate), options,
                                    "not shared: a record is little work, and late ones are whole");
        } else {
            return farmed_with_late(windows, std::move(time_of), std::move(aggregate), options,
                                    "farmed: late records are whole, the replicas take turns");
        }
    }
    /// Sessions: each group's by the replica that owns it.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window(window::SessionWindows windows, TimeOf time_of, A aggregate, LateApart,
                WindowOptions options = {}) && {
        return keyed().window(windows, std::move(time_of), std::move(aggregate), late_apart,
                              second_level(options));
    }

    /// Window farming: windows k, k + n, k + 2n, ... of every group on replica k mod n.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] Stream<TimeResult<A>> parallel_windows(window::TimeWindows windows,
                                                         TimeOf time_of, A aggregate,
                                                         WindowOptions options = {}) && {
        return farmed(windows, std::move(time_of), std::move(aggregate), options, in_turns);
    }
    template <window::FunctionOf<T> A>
    [[nodiscard]] Stream<CountResult<A>> parallel_windows(window::CountWindows windows, A aggregate,
                                                          WindowOptions options = {}) && {
        return farmed(windows, std::move(aggregate), options, in_turns);
    }

    /// Those of time with the late records as a stream of their own.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    WindowStreams<TimeResult<A>, T> parallel_windows(window::TimeWindows windows, TimeOf time_of,
                                                     A aggregate, LateApart,
                                                     WindowOptions options = {}) && {
        return farmed_with_late(windows, std::move(time_of), std::move(aggregate), options,
                                in_turns);
    }

    /// Panes by the replicas that have the records, windows of panes by the owner of the group.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] Stream<TimeResult<A>> combined_windows(window::TimeWindows windows,
                                                         TimeOf time_of, A aggregate,
                                                         WindowOptions options = {}) && {
        check_parts<A>();
        static_assert(window::combines_before_sending<A, K>,
                      "combined windows are for commutative aggregates with a small plain state, "
                      "and for keys that are numbers (see paned_windows, any_order)");
        return combined(windows, std::move(time_of), std::move(aggregate), options,
                        "combined: records are added up before they are sent");
    }

    /// Panes by any replica, windows of panes by the owner of the group.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] Stream<TimeResult<A>> paned_windows(window::TimeWindows windows, TimeOf time_of,
                                                      A aggregate, WindowOptions options = {}) && {
        check_parts<A>();
        check_commutes<A>();
        return paned(windows, std::move(time_of), std::move(aggregate), options,
                     "paned: panes by any replica, windows by the owner of the group");
    }
    /// The same of counts: a pane of a group belongs to one replica, and panes go on in their
    /// order, so that any aggregate will do. Windows that have no pane in common are shared as they
    /// are.
    template <window::FunctionOf<T> A>
    [[nodiscard]] Stream<CountResult<A>> paned_windows(window::CountWindows windows, A aggregate,
                                                       WindowOptions options = {}) && {
        check_parts<A>();
        if (!overlap(windows)) return farmed(windows, std::move(aggregate), options, in_turns);
        return paned(windows, std::move(aggregate), options,
                     "paned: a pane by each replica in turn, windows by the owner of the group");
    }

    /// Parts of windows by any replica, combined by the owner of the group.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] Stream<TimeResult<A>> map_reduce_windows(window::TimeWindows windows,
                                                           TimeOf time_of, A aggregate,
                                                           WindowOptions options = {}) && {
        check_parts<A>();
        check_commutes<A>();
        return map_reduce(
            windows, std::move(time_of), std::move(aggregate), options,
            "map-reduce: parts of windows by any replica, windows by the owner of the group");
    }
    /// The same of counts: every replica has every record, and adds those whose turn is its own.
    template <window::FunctionOf<T> A>
    [[nodiscard]] Stream<CountResult<A>> map_reduce_windows(window::CountWindows windows,
                                                            A aggregate,
                                                            WindowOptions options = {}) && {
        check_commutes<A>();
        check_parts<A>();
        return map_reduce(windows, std::move(aggregate), options,
                          "map-reduce: every replica adds up the records whose turn is its own");
    }

  private:
    using Windows::by_key;
    using Windows::by_key_with_late;
    using Windows::combined;
    using Windows::farmed;
    using Windows::farmed_with_late;
    using Windows::keyed;
    using Windows::map_reduce;
    using Windows::overlap;
    using Windows::paned;
    using Windows::second_level;

    static constexpr const char* alone = "not shared: one replica is asked for";
    static constexpr const char* by_own_input = "not shared: records are late by their own input";
    static constexpr const char* in_turns =
        "farmed: every replica has every record, they take turns with the windows";

    template <class A>
    static constexpr void check_parts() noexcept {
        static_assert(window::has_parts<A>,
                      "windows are put together from the states of their parts here: not those of "
                      "full content, of several values or of final aggregates (see "
                      "parallel_windows)");
    }

    template <class A>
    static constexpr void check_commutes() noexcept {
        static_assert(window::is_commutative<A>,
                      "what replicas computed is combined in any order: the aggregate has to be "
                      "commutative (see parallel_windows, any_order)");
    }
};

}  // namespace strid
