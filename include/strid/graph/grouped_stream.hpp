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

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/graph/keyed_stream.hpp>
#include <strid/graph/shared_work.hpp>
#include <strid/window/gathered_parts.hpp>
#include <strid/window/keyed_count_windows.hpp>
#include <strid/window/keyed_time_windows.hpp>
#include <strid/window/ordered_results.hpp>
#include <strid/window/partial.hpp>
#include <strid/window/partial_panes.hpp>
#include <strid/window/result.hpp>

namespace strid {

/// A stream grouped by key. Each window operator gives a stream of WindowResults in the order of
/// their ends; for counts, in the order of the windows of a key.
template <class Upstream, class KeyOf>
class GroupedStream {
    using T = typename Upstream::record_type;
    using K = operators::KeyType<KeyOf, T>;
    template <class A>
    using TimeResult = WindowResult<K, window::ResultOf<A, K, window::TimeBounds>>;
    template <class A>
    using CountResult =
        WindowResult<K, window::ResultOf<A, K, window::CountBounds>, window::CountBounds>;

  public:
    GroupedStream(Upstream upstream, KeyOf key_of)
        : upstream_(std::move(upstream)), key_of_(std::move(key_of)) {}

    /// Windows of event time, in the way that suits the function and the windows; by key where one
    /// replica is asked for.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] Stream<TimeResult<A>> window(window::TimeWindows windows, TimeOf time_of,
                                               A aggregate, WindowOptions options = {}) && {
        if constexpr (window::combines_before_sending<A, K> && window::has_parts<A>) {
            return combined(windows, std::move(time_of), std::move(aggregate), options,
                            "combined: adding to a small state costs less than sending a record");
        } else {
            if (options.parallelism == 1) {
                return noted(std::move(upstream_).key_by(key_of_).window(
                                 windows, std::move(time_of), std::move(aggregate), options),
                             "by key: one replica has nothing to share");
            }
            if constexpr (window::is_commutative<A> && window::has_parts<A>) {
                if (windows.slide() / windows.pane() >= window::panes_worth_combining) {
                    return map_reduce(windows, std::move(time_of), std::move(aggregate), options,
                                      "map-reduce: a part of a window is sent for its many panes");
                }
                return paned(windows, std::move(time_of), std::move(aggregate), options,
                             "paned: the aggregate is commutative, panes of any replica combine");
            } else {
                return farmed(windows, std::move(time_of), std::move(aggregate), options,
                              "farmed: the function needs whole windows, the replicas take turns");
            }
        }
    }
    /// Windows of counts: by key where a record is little work, which sharing would only add to;
    /// else paned where they overlap, so that a record is added to one state only; parallel windows
    /// where they do not or have panes of a few records, and for full content.
    template <window::FunctionOf<T> A>
    [[nodiscard]] Stream<CountResult<A>> window(window::CountWindows windows, A aggregate,
                                                WindowOptions options = {}) && {
        if constexpr (window::has_parts<A>) {
            if (window::is_light<A>(windows)) {
                return noted(std::move(upstream_).key_by(key_of_).window(
                                 windows, std::move(aggregate), second_level(options)),
                             "by key: to share them costs more");
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
        return std::move(upstream_).key_by(key_of_).window(std::move(windows), std::move(aggregate),
                                                           second_level(options));
    }
    /// Sessions: each group's by the replica that owns it.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] auto window(window::SessionWindows windows, TimeOf time_of, A aggregate,
                              WindowOptions options = {}) && {
        return std::move(upstream_).key_by(key_of_).window(
            windows, std::move(time_of), std::move(aggregate), second_level(options));
    }

    /// The same windows of event time with the late records as a stream of their own, `auto
    /// [results, late] = ...`: parallel windows, because in the others nobody has late records
    /// whole.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window_with_late(window::TimeWindows windows, TimeOf time_of, A aggregate,
                          WindowOptions options = {}) && {
        using Result = TimeResult<A>;
        auto [results, late] = graph::results_and_late<Result, T>(
            taking_turns<true>(windows, std::move(time_of), std::move(aggregate), options,
                               "farmed: late records are whole only there"),
            options.name);
        return WindowStreams<Result, T>{in_order<Result>(std::move(results), options),
                                        std::move(late)};
    }
    /// Sessions: each group's by the replica that owns it.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window_with_late(window::SessionWindows windows, TimeOf time_of, A aggregate,
                          WindowOptions options = {}) && {
        return std::move(upstream_).key_by(key_of_).window_with_late(
            windows, std::move(time_of), std::move(aggregate), second_level(options));
    }

    /// Window farming: windows k, k + n, k + 2n, ... of every group on replica k mod n.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] Stream<TimeResult<A>> parallel_windows(window::TimeWindows windows,
                                                         TimeOf time_of, A aggregate,
                                                         WindowOptions options = {}) && {
        return farmed(windows, std::move(time_of), std::move(aggregate), options, "");
    }
    template <window::FunctionOf<T> A>
    [[nodiscard]] Stream<CountResult<A>> parallel_windows(window::CountWindows windows, A aggregate,
                                                          WindowOptions options = {}) && {
        return farmed(windows, std::move(aggregate), options, "");
    }

    /// Panes by the replicas that have the records, windows of panes by the owner of the group.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] Stream<TimeResult<A>> combined_windows(window::TimeWindows windows,
                                                         TimeOf time_of, A aggregate,
                                                         WindowOptions options = {}) && {
        check_parts<A>();
        static_assert(window::combines_before_sending<A, K>,
                      "combined windows are for commutative aggregates with a small plain state, "
                      "and for keys that are numbers (see paned_windows)");
        return combined(windows, std::move(time_of), std::move(aggregate), options, "");
    }

    /// Panes by any replica, windows of panes by the owner of the group.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] Stream<TimeResult<A>> paned_windows(window::TimeWindows windows, TimeOf time_of,
                                                      A aggregate, WindowOptions options = {}) && {
        check_parts<A>();
        check_commutes<A>();
        return paned(windows, std::move(time_of), std::move(aggregate), options, "");
    }
    /// The same of counts: a pane of a group belongs to one replica, and panes go on in their
    /// order, so that any aggregate will do. Windows that have no pane in common are shared as they
    /// are.
    template <window::FunctionOf<T> A>
    [[nodiscard]] Stream<CountResult<A>> paned_windows(window::CountWindows windows, A aggregate,
                                                       WindowOptions options = {}) && {
        check_parts<A>();
        if (!overlap(windows)) return farmed(windows, std::move(aggregate), options, "");
        return paned(windows, std::move(aggregate), options, "");
    }

    /// Parts of windows by any replica, combined by the owner of the group.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    [[nodiscard]] Stream<TimeResult<A>> map_reduce_windows(window::TimeWindows windows,
                                                           TimeOf time_of, A aggregate,
                                                           WindowOptions options = {}) && {
        check_parts<A>();
        check_commutes<A>();
        return map_reduce(windows, std::move(time_of), std::move(aggregate), options, "");
    }
    /// The same of counts: every replica has every record, and adds those whose turn is its own.
    template <window::FunctionOf<T> A>
    [[nodiscard]] Stream<CountResult<A>> map_reduce_windows(window::CountWindows windows,
                                                            A aggregate,
                                                            WindowOptions options = {}) && {
        check_commutes<A>();
        check_parts<A>();
        return map_reduce(windows, std::move(aggregate), options);
    }

  private:
    using Shared = graph::SharedWork;

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
                      "commutative (see parallel_windows)");
    }

    template <class TimeOf, class A>
    Stream<TimeResult<A>> farmed(const window::TimeWindows& windows, TimeOf time_of, A aggregate,
                                 const WindowOptions& options, const char* note) {
        return in_order<TimeResult<A>>(
            taking_turns<false>(windows, std::move(time_of), std::move(aggregate), options, note),
            options);
    }
    /// Window k of every group by replica k mod n.
    template <bool keeps_late, class TimeOf, class A>
    auto taking_turns(const window::TimeWindows& windows, TimeOf time_of, A aggregate,
                      const WindowOptions& options, const char* note) {
        using Stage = window::KeyedTimeWindows<T, KeyOf, K, TimeOf, A, keeps_late>;
        graph::check(options);
        Stage stage{windows, key_of_, std::move(time_of), std::move(aggregate), options};
        stage.farm();
        return Shared::with_watermarks(Shared::template shared<typename Stage::Out::Record>(
            hashed(options, 0).broadcast(), std::move(stage), of(options), "parallel_windows",
            note));
    }
    /// Results of time windows as one replica would have given them.
    template <class Result, class S>
    static Stream<Result> in_order(S results, const WindowOptions& options) {
        return Shared::template collected<Result>(
            std::move(results), window::OrderedByTime<Result>{}, part(options, "collector", 1));
    }
    template <class A>
    Stream<CountResult<A>> farmed(const window::CountWindows& windows, A aggregate,
                                  const WindowOptions& options, const char* note) {
        return taking_turns(windows, std::move(aggregate), options, of(options), "parallel_windows",
                            note);
    }
    /// Window k of each group by replica k mod n, in the order of one replica.
    template <class A>
    Stream<CountResult<A>> taking_turns(const window::CountWindows& windows, A aggregate,
                                        const WindowOptions& options, OperatorOptions name,
                                        const char* kind, const char* note) {
        constexpr bool one_value = !requires { typename A::Value; };
        using Stage = window::KeyedCountWindows<
            T, KeyOf, K, A, one_value ? window::Giving::values : window::Giving::values_and_ends>;
        using Given = typename Stage::Result;
        Stage stage{windows, key_of_, std::move(aggregate), options};
        stage.farm();
        return Shared::template collected<CountResult<A>>(
            Shared::template shared<Given>(numbered(options), std::move(stage), std::move(name),
                                           kind, note),
            window::OrderedByCount<Given, K>{windows.slide()}, part(options, "collector", 1));
    }

    template <class TimeOf, class A>
    Stream<TimeResult<A>> combined(const window::TimeWindows& windows, TimeOf time_of, A aggregate,
                                   const WindowOptions& options, const char* note) {
        using Stage = window::PartialPanes<T, KeyOf, K, TimeOf, A>;
        using PartOfPane = typename Stage::Out;
        auto parts = std::move(upstream_).template then<PartOfPane>(
            Stage{windows, key_of_, std::move(time_of), aggregate}, part(options, "parts", 0),
            "combine");
        parts.handle_.operators.back().needs_watermarks = true;
        parts.handle_.operators.back().say(note);
        return std::move(parts).template key_by<&PartOfPane::key>().window(
            windows, &PartOfPane::time, window::Merged<A, PartOfPane>{std::move(aggregate)},
            second_level(options));
    }

    template <class TimeOf, class A>
    Stream<TimeResult<A>> paned(const window::TimeWindows& windows, TimeOf time_of, A aggregate,
                                const WindowOptions& options, const char* note) {
        using PartResult = WindowResult<K, typename A::State>;
        // Which records are late is for the second level to say: it knows their windows.
        WindowOptions all = options;
        all.lateness = Duration::max();
        return first_level(windows.panes_as_windows(), std::move(time_of), aggregate, all, "panes",
                           note)
            .key_by([](const PartResult& part) { return part.key; })
            .window(
                windows, [](const PartResult& part) { return part.window.start; },
                window::Merged<A, PartResult>{std::move(aggregate)}, second_level(options));
    }

    static bool overlap(const window::CountWindows& windows) noexcept {
        return windows.slide() < windows.length();
    }
    template <class A>
    Stream<CountResult<A>> paned(const window::CountWindows& windows, A aggregate,
                                 const WindowOptions& options, const char* note) {
        using PartResult = CountResult<window::Part<A>>;
        using Sum = window::MergedCounts<A, PartResult>;
        const auto key_of_part = [](const PartResult& part) { return part.key; };
        using Stage = window::KeyedCountWindows<PartResult,
                                                std::remove_const_t<decltype(key_of_part)>, K, Sum>;
        const WindowOptions second = second_level(options);
        return taking_turns(window::CountWindows::tumbling(windows.pane()),
                            window::Part<A>{aggregate}, options,
                            part(options, "panes", options.parallelism), "panes", note)
            .key_by(key_of_part)
            .through(Stage{windows, key_of_part, Sum{std::move(aggregate)}, second}, of(second),
                     "window", false);
    }

    template <class A>
    Stream<CountResult<A>> map_reduce(const window::CountWindows& windows, A aggregate,
                                      const WindowOptions& options) {
        using Stage =
            window::KeyedCountWindows<T, KeyOf, K, window::Part<A>, window::Giving::parts>;
        using PartResult = typename Stage::Result;
        auto parts = Shared::template shared<PartResult>(
            numbered(options), Stage{windows, key_of_, {aggregate}, options},
            part(options, "map", options.parallelism), "map", "");
        return std::move(parts).template key_by<&PartResult::key>().through(
            window::GatheredParts<K, A>{windows.slide(), std::move(aggregate)},
            of(second_level(options)), "window", false);
    }

    template <class TimeOf, class A>
    Stream<TimeResult<A>> map_reduce(const window::TimeWindows& windows, TimeOf time_of,
                                     A aggregate, const WindowOptions& options, const char* note) {
        using PartResult = WindowResult<K, typename A::State>;
        // The parts of a window come at its end: in windows as long as the slide there is one end.
        const auto ends =
            window::TimeWindows::tumbling(windows.slide(), windows.offset() + windows.length());
        return first_level(windows, std::move(time_of), aggregate, options, "map", note)
            .key_by([](const PartResult& part) { return part.key; })
            .window(ends, &PartResult::time, window::Merged<A, PartResult>{std::move(aggregate)},
                    second_level(options))
            .map([length = windows.length()](
                     TimeResult<A>& result) { result.window.start = result.window.end - length; },
                 part(options, "bounds", 0));
    }

    /// States of windows, each of the records that a replica happened to get.
    template <class TimeOf, class A>
    Stream<WindowResult<K, typename A::State>> first_level(const window::TimeWindows& windows,
                                                           TimeOf time_of, const A& aggregate,
                                                           const WindowOptions& options,
                                                           const char* kind, const char* note) {
        using PartResult = WindowResult<K, typename A::State>;
        using Stage = window::KeyedTimeWindows<T, KeyOf, K, TimeOf, window::Part<A>, false,
                                               window::Firing::parts>;
        auto stream = hashed(options, 0)
                          .rebalance()
                          .template then<PartResult>(
                              Stage{windows, key_of_, std::move(time_of), {aggregate}, options},
                              part(options, kind, options.parallelism), kind);
        stream.handle_.operators.back().needs_watermarks = true;
        stream.handle_.operators.back().say(note);
        return stream;
    }
    template <class S>
    static S noted(S stream, const char* why) {
        stream.handle_.operators.back().say(why);
        return stream;
    }
    static WindowOptions second_level(WindowOptions options) {
        if (std::is_same_v<K, OneGroup>) options.parallelism = 1;
        return options;
    }

    /// Every record to every replica, in an order about which all agree: one replica gives it.
    auto numbered(const WindowOptions& options) {
        return Shared::with_one_replica(hashed(options, 1)).broadcast();
    }
    auto hashed(const WindowOptions& options, std::size_t parallelism) {
        return Shared::hashed(std::move(upstream_), key_of_, part(options, "hash", parallelism));
    }
    static OperatorOptions of(const WindowOptions& options) {
        return {.name = options.name, .parallelism = options.parallelism};
    }
    static OperatorOptions part(const WindowOptions& options, const char* what,
                                std::size_t parallelism) {
        return {.name = options.name.empty() ? "" : options.name + "-" + what,
                .parallelism = parallelism};
    }

    Upstream upstream_;
    KeyOf key_of_;
};

}  // namespace strid
