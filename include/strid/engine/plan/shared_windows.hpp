// SPDX-License-Identifier: Apache-2.0
//
// How windows with shared work are composed of operators (stream/share.hpp lists the ways):
// replicas that have every record, followed by a collector; or two levels, of which the second is
// by key.
//
// Threads: as Stream.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/field.hpp>
#include <strid/engine/plan/keyed_windows.hpp>
#include <strid/engine/plan/shared_work.hpp>
#include <strid/engine/plan/window_table.hpp>
#include <strid/engine/window/aggregates/partial.hpp>
#include <strid/engine/window/operators/gathered_parts.hpp>
#include <strid/engine/window/operators/keyed_count_windows.hpp>
#include <strid/engine/window/operators/keyed_time_windows.hpp>
#include <strid/engine/window/operators/ordered_results.hpp>
#include <strid/engine/window/operators/partial_panes.hpp>
#include <strid/engine/window/result_of.hpp>
#include <strid/window/result.hpp>

namespace strid::graph {

/// Windows in every way. Each function uses the stream up; `note` is the text for explain().
template <class T, class KeyOf, class Upstream>
class SharedWindows : KeyedWindows<T, KeyOf, Upstream> {
    using ByKey = KeyedWindows<T, KeyOf, Upstream>;
    using Work = SharedWork;
    using ByKey::keyed_, ByKey::of, ByKey::by_key;
    using typename ByKey::K;
    using typename ByKey::Time;
    template <class A>
    using CountResult =
        WindowResult<K, window::ResultOf<A, K, window::CountBounds>, window::CountBounds>;

  public:
    using ByKey::ByKey;
    using ByKey::updates;

    /// The windows in this way (engine/plan/window_table.hpp).
    template <Share asked, bool late_is_apart, class Windows, class A>
    auto shared(Windows windows, A aggregate, const WindowOptions& options) {
        constexpr Share way =
            asked == Share::automatic ? chosen_share<Windows, A, K, late_is_apart>() : asked;
        constexpr const char* why =
            asked == Share::automatic
                ? why_chosen<Windows, A, late_is_apart>(way)
                : note_of_requested_way(way, std::same_as<Windows, window::CountWindows>);
        if constexpr (way == Share::by_key) {
            return ByKey::template by_key<late_is_apart>(std::move(windows), std::move(aggregate),
                                                         by_owner(options), why);
        } else {
            check_shared(options);
            std::string note = why;
            if constexpr (asked == Share::automatic) note += better_way<way, A>(windows);
            if constexpr (way == Share::farmed) {
                return farmed<late_is_apart>(windows, std::move(aggregate), options, note);
            } else if constexpr (way == Share::combined) {
                return combined(windows, std::move(aggregate), options, note);
            } else if constexpr (way == Share::paned) {
                return paned(windows, std::move(aggregate), options, note);
            } else {
                return map_reduce(windows, std::move(aggregate), options, note);
            }
        }
    }

  private:
    /// The hint of explain() for windows whose way was chosen by their function, if another way
    /// would do less work for such windows; else "".
    template <Share way, class A, class Windows>
    static std::string better_way(const Windows& windows) {
        if constexpr (way == Share::paned && std::same_as<Windows, window::TimeWindows>) {
            const auto panes = windows.slide() / windows.pane();
            if (panes >= window::panes_worth_combining && !windows.is_calendar()) {
                return " (share::map_reduce would send one part of a window for " +
                       std::to_string(panes) + " panes)";
            }
        }
        if constexpr (way == Share::farmed && std::same_as<Windows, window::CountWindows> &&
                      window::has_parts<A>) {
            if (windows.slide() < windows.length() &&
                windows.pane() >= window::pane_worth_sending) {
                return " (share::paned would add a record to one pane, not to each of its windows)";
            }
        }
        return {};
    }

    /// Of the operator that has the groups by key: one group has one owner.
    static WindowOptions by_owner(WindowOptions options) {
        if (std::same_as<K, OneGroup>) options.parallelism = 1;
        return options;
    }

    /// Window k of every group by replica k mod n, results as one replica would have given them.
    template <bool late_is_apart, class A>
    auto farmed(const window::TimeWindows& windows, A aggregate, const WindowOptions& options,
                const std::string& note) {
        using Windows = window::KeyedTimeWindows<T, KeyOf, K, Time, A>;
        using Result = typename Windows::Result;
        Windows one{windows, keyed_.key_of_, keyed_.time(), std::move(aggregate), options};
        one.farm();
        const auto in_order = [&options](auto results) -> Stream<Result> {
            return std::move(results).apply(window::OrderedByTime<Result>{},
                                            part(options, "collector", 1));
        };
        if constexpr (late_is_apart) {
            Time time = keyed_.time();
            auto [results, late] = results_and_late<T>(
                everywhere(with_late<T>(std::move(one)), of(options), "parallel_windows", options,
                           note, sliding<A>(windows)),
                options.name, std::move(time));
            return WindowStreams<Result, T, Time>{in_order(std::move(results)), std::move(late)};
        } else {
            return in_order(everywhere(std::move(one), of(options), "parallel_windows", options,
                                       note, sliding<A>(windows)));
        }
    }
    template <bool, class A>
    Stream<CountResult<A>> farmed(const window::CountWindows& windows, A aggregate,
                                  const WindowOptions& options, const std::string& note) {
        return taking_turns(windows, std::move(aggregate), options, of(options), "parallel_windows",
                            note);
    }
    /// Window k of each group by replica k mod n, in the order of one replica.
    template <class A>
    Stream<CountResult<A>> taking_turns(const window::CountWindows& windows, A aggregate,
                                        const WindowOptions& options, const OperatorOptions& name,
                                        const char* kind, const std::string& note) {
        constexpr bool one_value = !requires { typename A::Value; };
        using Windows =
            window::KeyedCountWindows<T, KeyOf, K, A,
                                      one_value ? window::CountWindowOutput::values
                                                : window::CountWindowOutput::values_and_ends>;
        Windows one{windows, keyed_.key_of_, std::move(aggregate), options};
        one.farm();
        return everywhere(std::move(one), name, kind, options, note, sliding<A>(windows))
            .apply(window::OrderedByCount<typename Windows::Result, K>{windows.slide()},
                   part(options, "collector", 1));
    }

    template <class A>
    auto combined(const window::TimeWindows& windows, A aggregate, const WindowOptions& options,
                  const std::string& note) {
        using Panes = window::PartialPanes<T, KeyOf, K, Time, A>;
        using Part = typename Panes::Part;
        Panes panes{windows, keyed_.key_of_, keyed_.time(), aggregate};
        return Work::then(std::move(keyed_.upstream_), std::move(panes), part(options, "parts", 0),
                          Panes::traits.kind, note)
            .template timed_by<&Part::time>()
            .template key_by<&Part::key>()
            .window(windows, window::Merged<A, Part>{std::move(aggregate)}, by_owner(options));
    }

    template <class A>
    auto paned(const window::TimeWindows& windows, A aggregate, const WindowOptions& options,
               const std::string& note) {
        using Part = WindowResult<K, typename A::State>;
        // The second level, which has the windows, decides which records are late.
        WindowOptions all = options;
        all.lateness = Duration::max();
        return first_level(windows.panes_as_windows(), aggregate, all, "panes", "paned_windows",
                           note)
            .timed_by(StartOfPane{})
            .template key_by<&Part::key>()
            .window(windows, window::Merged<A, Part>{std::move(aggregate)}, by_owner(options));
    }
    template <class A>
    Stream<CountResult<A>> paned(const window::CountWindows& windows, A aggregate,
                                 const WindowOptions& options, const std::string& note) {
        using Part = CountResult<window::Part<A>>;
        using Sum = window::MergedCounts<A, Part>;
        using Windows = window::KeyedCountWindows<Part, Field<&Part::key>, K, Sum>;
        const WindowOptions second = by_owner(options);
        auto panes =
            taking_turns(window::CountWindows::tumbling(windows.pane()), window::Part<A>{aggregate},
                         options, part(options, "panes", options.parallelism), "paned_windows",
                         note)
                .template key_by<&Part::key>();
        return panes.then(Windows{windows, {}, Sum{std::move(aggregate)}, second}, of(second),
                          Windows::traits.kind, sliding<A>(windows));
    }

    template <class A>
    Stream<CountResult<A>> map_reduce(const window::CountWindows& windows, A aggregate,
                                      const WindowOptions& options, const std::string& note) {
        using Windows = window::KeyedCountWindows<T, KeyOf, K, window::Part<A>,
                                                  window::CountWindowOutput::parts>;
        using Part = typename Windows::Result;
        return everywhere(Windows{windows, keyed_.key_of_, {aggregate}, options},
                          part(options, "map", options.parallelism), "map_reduce_windows", options,
                          note, sliding<A>(windows))
            .template key_by<&Part::key>()
            .apply(window::GatheredParts<K, A>{windows.slide(), std::move(aggregate)},
                   of(by_owner(options)));
    }
    template <class A>
    auto map_reduce(const window::TimeWindows& windows, A aggregate, const WindowOptions& options,
                    const std::string& note) {
        using Part = WindowResult<K, typename A::State>;
        // Where a zone skipped a day two of its windows end at the same moment.
        if (windows.is_calendar()) {
            throw GraphError("calendar windows are not for share::map_reduce: use share::paned");
        }
        // The parts of a window come at its end: in windows as long as the slide there is one end.
        const auto ends =
            window::TimeWindows::tumbling(windows.slide(), windows.offset() + windows.length());
        return first_level(windows, aggregate, options, "map", "map_reduce_windows", note)
            .template key_by<&Part::key>()
            .window(ends, window::Merged<A, Part>{std::move(aggregate)}, by_owner(options))
            .map([length = windows.length()](
                     auto& result) { result.window.start = result.window.end - length; },
                 part(options, "bounds", 0));
    }

    struct StartOfPane {
        template <class Part>
        EventTime operator()(const Part& part) const noexcept {
            return part.window.start;
        }
    };

    /// States of windows, each of the records that a replica happened to get.
    template <class A>
    Stream<WindowResult<K, typename A::State>> first_level(const window::TimeWindows& windows,
                                                           const A& aggregate,
                                                           const WindowOptions& options,
                                                           const char* name, const char* kind,
                                                           const std::string& note) {
        using Windows =
            window::KeyedTimeWindows<T, KeyOf, K, Time, window::Part<A>, window::Firing::parts>;
        Windows one{windows, keyed_.key_of_, keyed_.time(), {aggregate}, options};
        return Work::then(hashed(options, 0, false).rebalance(), std::move(one),
                          part(options, name, options.parallelism), kind, note,
                          sliding<A>(windows));
    }

    template <class A, class Windows>
    static const char* sliding(const Windows& windows) noexcept {
        return windows.slide() < windows.length() ? window::how_it_slides<A>() : "";
    }

    /// Shared windows do not have the watermark of the own input of a record.
    static void check_shared(const WindowOptions& options) {
        check(options);
        if (options.late_by == LateBy::own_input) {
            throw GraphError(
                "LateBy::own_input needs key_by() (or share::by_key) or a window join: shared "
                "windows "
                "have one watermark for all of their inputs");
        }
    }

    /// The operator of which each replica has every record, in an order about which all agree: one
    /// replica gives it.
    template <class Operator>
    auto everywhere(Operator one, const OperatorOptions& name, const char* kind,
                    const WindowOptions& options, const std::string& note, const char* slides) {
        return Work::then(hashed(options, 1, true).broadcast(), std::move(one), name, kind, note,
                          slides);
    }
    auto hashed(const WindowOptions& options, std::size_t parallelism, bool one_replica) {
        return Work::hashed(std::move(keyed_.upstream_), keyed_.key_of_,
                            part(options, "hash", parallelism), one_replica);
    }
    static OperatorOptions part(const WindowOptions& options, const char* what,
                                std::size_t parallelism) {
        return {.name = options.name.empty() ? "" : options.name + "-" + what,
                .parallelism = parallelism};
    }
};

}  // namespace strid::graph
