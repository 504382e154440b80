// SPDX-License-Identifier: Apache-2.0
//
// How windows whose work is shared are put together of stages (graph/grouped_stream.hpp says what
// they are, and which is chosen): a stage that every replica has the records for and a collector,
// or two levels of which the second is by key.
//
// Threads: as Stream.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/field.hpp>
#include <strid/graph/keyed_stream.hpp>
#include <strid/graph/shared_work.hpp>
#include <strid/window/aggregates/partial.hpp>
#include <strid/window/operators/gathered_parts.hpp>
#include <strid/window/operators/keyed_count_windows.hpp>
#include <strid/window/operators/keyed_time_windows.hpp>
#include <strid/window/operators/ordered_results.hpp>
#include <strid/window/operators/partial_panes.hpp>
#include <strid/window/result.hpp>

namespace strid::graph {

/// The window operators of a stream that is grouped by key. Each uses the stream up; `note` is what
/// explain() says of it.
template <class Upstream, class KeyOf>
class SharedWindows {
    using Shared = SharedWork;

  protected:
    using T = typename Upstream::record_type;
    using K = operators::KeyType<KeyOf, T>;
    template <class A>
    using TimeResult = WindowResult<K, window::ResultOf<A, K, window::TimeBounds>>;
    template <class A>
    using CountResult =
        WindowResult<K, window::ResultOf<A, K, window::CountBounds>, window::CountBounds>;

    SharedWindows(Upstream upstream, KeyOf key_of)
        : upstream_(std::move(upstream)), key_of_(std::move(key_of)) {}

    auto keyed() { return std::move(upstream_).key_by(key_of_); }
    static WindowOptions second_level(WindowOptions options) {
        if (std::is_same_v<K, OneGroup>) options.parallelism = 1;
        return options;
    }
    /// Not shared after all.
    template <class TimeOf, class A>
    Stream<TimeResult<A>> by_key(const window::TimeWindows& windows, TimeOf time_of, A aggregate,
                                 const WindowOptions& options, const char* why) {
        return Shared::noted(keyed().window(windows, std::move(time_of), std::move(aggregate),
                                            second_level(options)),
                             why);
    }
    template <class A>
    Stream<CountResult<A>> by_key(const window::CountWindows& windows, A aggregate,
                                  const WindowOptions& options, const char* why) {
        return Shared::noted(keyed().window(windows, std::move(aggregate), second_level(options)),
                             why);
    }
    template <class TimeOf, class A>
    WindowStreams<TimeResult<A>, T> by_key_with_late(const window::TimeWindows& windows,
                                                     TimeOf time_of, A aggregate,
                                                     const WindowOptions& options,
                                                     const char* why) {
        return results_and_late<T>(
            Shared::noted(keyed().results_or_late(windows, std::move(time_of), std::move(aggregate),
                                                  second_level(options)),
                          why),
            options.name);
    }

    template <class TimeOf, class A>
    Stream<TimeResult<A>> farmed(const window::TimeWindows& windows, TimeOf time_of, A aggregate,
                                 const WindowOptions& options, const char* note) {
        return in_order<TimeResult<A>>(
            shared(taking_turns(windows, std::move(time_of), std::move(aggregate), options),
                   options, note, sliding<A>(windows)),
            options);
    }
    template <class TimeOf, class A>
    WindowStreams<TimeResult<A>, T> farmed_with_late(const window::TimeWindows& windows,
                                                     TimeOf time_of, A aggregate,
                                                     const WindowOptions& options,
                                                     const char* note) {
        auto [results, late] =
            results_and_late<T>(shared(with_late<T>(taking_turns(windows, std::move(time_of),
                                                                 std::move(aggregate), options)),
                                       options, note, sliding<A>(windows)),
                                options.name);
        return {in_order<TimeResult<A>>(std::move(results), options), std::move(late)};
    }
    /// Window k of every group by replica k mod n.
    template <class TimeOf, class A>
    auto taking_turns(const window::TimeWindows& windows, TimeOf time_of, A aggregate,
                      const WindowOptions& options) {
        check_shared(options);
        window::KeyedTimeWindows<T, KeyOf, K, TimeOf, A> one{windows, key_of_, std::move(time_of),
                                                             std::move(aggregate), options};
        one.farm();
        return one;
    }
    /// The operator of which each replica has every record.
    template <class Operator>
    auto shared(Operator one, const WindowOptions& options, const char* note, const char* slides) {
        return Shared::then(numbered(options), std::move(one), of(options), "parallel_windows",
                            note, slides);
    }
    /// Results of time windows as one replica would have given them.
    template <class Result, class S>
    static Stream<Result> in_order(S results, const WindowOptions& options) {
        return std::move(results).apply(window::OrderedByTime<Result>{},
                                        part(options, "collector", 1));
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
        using Windows = window::KeyedCountWindows<
            T, KeyOf, K, A, one_value ? window::Giving::values : window::Giving::values_and_ends>;
        Windows one{windows, key_of_, std::move(aggregate), options};
        one.farm();
        return Shared::then(numbered(options), std::move(one), name, kind, note,
                            sliding<A>(windows))
            .apply(window::OrderedByCount<typename Windows::Result, K>{windows.slide()},
                   part(options, "collector", 1));
    }

    template <class TimeOf, class A>
    Stream<TimeResult<A>> combined(const window::TimeWindows& windows, TimeOf time_of, A aggregate,
                                   const WindowOptions& options, const char* note) {
        using Panes = window::PartialPanes<T, KeyOf, K, TimeOf, A>;
        using PartOfPane = typename Panes::Part;
        check_shared(options);
        auto parts = Shared::then(std::move(upstream_),
                                  Panes{windows, key_of_, std::move(time_of), aggregate},
                                  part(options, "parts", 0), Panes::traits.kind, note);
        return std::move(parts).template key_by<&PartOfPane::key>().window(
            windows, field<&PartOfPane::time>, window::Merged<A, PartOfPane>{std::move(aggregate)},
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
                           "paned_windows", note)
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
        using Windows =
            window::KeyedCountWindows<PartResult, std::remove_const_t<decltype(key_of_part)>, K,
                                      Sum>;
        const WindowOptions second = second_level(options);
        auto panes = taking_turns(
            window::CountWindows::tumbling(windows.pane()), window::Part<A>{aggregate}, options,
            part(options, "panes", options.parallelism), "paned_windows", note);
        return Shared::noted(
            std::move(panes)
                .key_by(key_of_part)
                .apply(Windows{windows, key_of_part, Sum{std::move(aggregate)}, second},
                       of(second)),
            sliding<A>(windows));
    }

    template <class A>
    Stream<CountResult<A>> map_reduce(const window::CountWindows& windows, A aggregate,
                                      const WindowOptions& options, const char* note) {
        using Windows =
            window::KeyedCountWindows<T, KeyOf, K, window::Part<A>, window::Giving::parts>;
        using PartResult = typename Windows::Result;
        auto parts =
            Shared::then(numbered(options), Windows{windows, key_of_, {aggregate}, options},
                         part(options, "map", options.parallelism), "map_reduce_windows", note,
                         sliding<A>(windows));
        return std::move(parts).template key_by<&PartResult::key>().apply(
            window::GatheredParts<K, A>{windows.slide(), std::move(aggregate)},
            of(second_level(options)));
    }

    template <class TimeOf, class A>
    Stream<TimeResult<A>> map_reduce(const window::TimeWindows& windows, TimeOf time_of,
                                     A aggregate, const WindowOptions& options, const char* note) {
        using PartResult = WindowResult<K, typename A::State>;
        // Where a zone skipped a day two of its windows end at the same moment.
        if (windows.is_calendar()) {
            throw GraphError("calendar windows are not for map_reduce_windows: use paned_windows");
        }
        // The parts of a window come at its end: in windows as long as the slide there is one end.
        const auto ends =
            window::TimeWindows::tumbling(windows.slide(), windows.offset() + windows.length());
        return first_level(windows, std::move(time_of), aggregate, options, "map",
                           "map_reduce_windows", note)
            .key_by([](const PartResult& part) { return part.key; })
            .window(ends, field<&PartResult::time>,
                    window::Merged<A, PartResult>{std::move(aggregate)}, second_level(options))
            .map([length = windows.length()](
                     TimeResult<A>& result) { result.window.start = result.window.end - length; },
                 part(options, "bounds", 0));
    }

    /// States of windows, each of the records that a replica happened to get.
    template <class TimeOf, class A>
    Stream<WindowResult<K, typename A::State>> first_level(const window::TimeWindows& windows,
                                                           TimeOf time_of, const A& aggregate,
                                                           const WindowOptions& options,
                                                           const char* name, const char* kind,
                                                           const char* note) {
        using Windows =
            window::KeyedTimeWindows<T, KeyOf, K, TimeOf, window::Part<A>, window::Firing::parts>;
        check_shared(options);
        return Shared::then(hashed(options, 0, false).rebalance(),
                            Windows{windows, key_of_, std::move(time_of), {aggregate}, options},
                            part(options, name, options.parallelism), kind, note,
                            sliding<A>(windows));
    }

  private:
    template <class A, class Windows>
    static const char* sliding(const Windows& windows) noexcept {
        return windows.slide() < windows.length() ? window::how_it_slides<A>() : "";
    }

    /// What is shared does not know whose record is late.
    static void check_shared(const WindowOptions& options) {
        check(options);
        if (options.late_by == LateBy::own_input) {
            throw GraphError(
                "windows that are shared cannot tell by its own input whether a record is late: "
                "windows by key and window joins can");
        }
    }

    /// Every record to every replica, in an order about which all agree: one replica gives it.
    auto numbered(const WindowOptions& options) { return hashed(options, 1, true).broadcast(); }
    auto hashed(const WindowOptions& options, std::size_t parallelism, bool one_replica) {
        return Shared::hashed(std::move(upstream_), key_of_, part(options, "hash", parallelism),
                              one_replica);
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

}  // namespace strid::graph
