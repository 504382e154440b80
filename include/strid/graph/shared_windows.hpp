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
#include <strid/window/gathered_parts.hpp>
#include <strid/window/keyed_count_windows.hpp>
#include <strid/window/keyed_time_windows.hpp>
#include <strid/window/ordered_results.hpp>
#include <strid/window/partial.hpp>
#include <strid/window/partial_panes.hpp>
#include <strid/window/result.hpp>

namespace strid::graph {

/// The window operators of a stream that is grouped by key. Each uses the stream up; `note` is what
/// explain() says of it.
template <class Upstream, class KeyOf>
class SharedWindows {
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
        return noted(keyed().window(windows, std::move(time_of), std::move(aggregate),
                                    second_level(options)),
                     why);
    }
    template <class A>
    Stream<CountResult<A>> by_key(const window::CountWindows& windows, A aggregate,
                                  const WindowOptions& options, const char* why) {
        return noted(keyed().window(windows, std::move(aggregate), second_level(options)), why);
    }
    template <class TimeOf, class A>
    WindowStreams<TimeResult<A>, T> by_key_with_late(const window::TimeWindows& windows,
                                                     TimeOf time_of, A aggregate,
                                                     const WindowOptions& options,
                                                     const char* why) {
        return results_and_late<TimeResult<A>, T>(
            noted(keyed().results_or_late(windows, std::move(time_of), std::move(aggregate),
                                          second_level(options)),
                  why),
            options.name);
    }

    template <class TimeOf, class A>
    Stream<TimeResult<A>> farmed(const window::TimeWindows& windows, TimeOf time_of, A aggregate,
                                 const WindowOptions& options, const char* note) {
        return in_order<TimeResult<A>>(
            taking_turns<false>(windows, std::move(time_of), std::move(aggregate), options, note),
            options);
    }
    template <class TimeOf, class A>
    WindowStreams<TimeResult<A>, T> farmed_with_late(const window::TimeWindows& windows,
                                                     TimeOf time_of, A aggregate,
                                                     const WindowOptions& options,
                                                     const char* note) {
        using Result = TimeResult<A>;
        auto [results, late] = results_and_late<Result, T>(
            taking_turns<true>(windows, std::move(time_of), std::move(aggregate), options, note),
            options.name);
        return {in_order<Result>(std::move(results), options), std::move(late)};
    }
    /// Window k of every group by replica k mod n.
    template <bool keeps_late, class TimeOf, class A>
    auto taking_turns(const window::TimeWindows& windows, TimeOf time_of, A aggregate,
                      const WindowOptions& options, const char* note) {
        using Stage = window::KeyedTimeWindows<T, KeyOf, K, TimeOf, A, keeps_late>;
        check_shared(options);
        Stage stage{windows, key_of_, std::move(time_of), std::move(aggregate), options};
        stage.farm();
        return Shared::with_watermarks(Shared::template shared<typename Stage::Out::Record>(
            numbered(options), std::move(stage), of(options), "parallel_windows", note,
            sliding<A>(windows)));
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
                                           kind, note, sliding<A>(windows)),
            window::OrderedByCount<Given, K>{windows.slide()}, part(options, "collector", 1));
    }

    template <class TimeOf, class A>
    Stream<TimeResult<A>> combined(const window::TimeWindows& windows, TimeOf time_of, A aggregate,
                                   const WindowOptions& options, const char* note) {
        using Stage = window::PartialPanes<T, KeyOf, K, TimeOf, A>;
        using PartOfPane = typename Stage::Out;
        check_shared(options);
        auto parts = std::move(upstream_).template then<PartOfPane>(
            Stage{windows, key_of_, std::move(time_of), aggregate}, part(options, "parts", 0),
            "combine");
        parts.handle_.operators.back().needs_watermarks = true;
        parts.handle_.operators.back().say(note);
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
        using Stage = window::KeyedCountWindows<PartResult,
                                                std::remove_const_t<decltype(key_of_part)>, K, Sum>;
        const WindowOptions second = second_level(options);
        auto panes = taking_turns(
            window::CountWindows::tumbling(windows.pane()), window::Part<A>{aggregate}, options,
            part(options, "panes", options.parallelism), "paned_windows", note);
        return noted(std::move(panes)
                         .key_by(key_of_part)
                         .through(Stage{windows, key_of_part, Sum{std::move(aggregate)}, second},
                                  of(second), "window", false),
                     sliding<A>(windows));
    }

    template <class A>
    Stream<CountResult<A>> map_reduce(const window::CountWindows& windows, A aggregate,
                                      const WindowOptions& options, const char* note) {
        using Stage =
            window::KeyedCountWindows<T, KeyOf, K, window::Part<A>, window::Giving::parts>;
        using PartResult = typename Stage::Result;
        auto parts = Shared::template shared<PartResult>(
            numbered(options), Stage{windows, key_of_, {aggregate}, options},
            part(options, "map", options.parallelism), "map_reduce_windows", note,
            sliding<A>(windows));
        return std::move(parts).template key_by<&PartResult::key>().through(
            window::GatheredParts<K, A>{windows.slide(), std::move(aggregate)},
            of(second_level(options)), "window", false);
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
        using PartResult = WindowResult<K, typename A::State>;
        using Stage = window::KeyedTimeWindows<T, KeyOf, K, TimeOf, window::Part<A>, false,
                                               window::Firing::parts>;
        check_shared(options);
        auto stream = hashed(options, 0)
                          .rebalance()
                          .template then<PartResult>(
                              Stage{windows, key_of_, std::move(time_of), {aggregate}, options},
                              part(options, name, options.parallelism), kind);
        stream.handle_.operators.back().needs_watermarks = true;
        return noted(noted(std::move(stream), note), sliding<A>(windows));
    }

  private:
    using Shared = SharedWork;

    template <class A, class Windows>
    static const char* sliding(const Windows& windows) noexcept {
        return windows.slide() < windows.length() ? window::how_it_slides<A>() : "";
    }

    template <class S>
    static S noted(S stream, const char* why) {
        stream.handle_.operators.back().say(why);
        return stream;
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

}  // namespace strid::graph
