// SPDX-License-Identifier: Apache-2.0
//
// Windows of a stream that is partitioned by key: which operator each kind is, and which part of a
// record is sent to it. A window that adds up large records has them lifted before they are sent
// (engine/window/operators/lift.hpp).
//
// Threads: as Stream.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/field.hpp>
#include <strid/engine/plan/alternatives.hpp>
#include <strid/engine/plan/one_group.hpp>
#include <strid/engine/window/aggregates/partial.hpp>
#include <strid/engine/window/operators/firing.hpp>
#include <strid/engine/window/operators/keyed_count_windows.hpp>
#include <strid/engine/window/operators/keyed_global_windows.hpp>
#include <strid/engine/window/operators/keyed_sessions.hpp>
#include <strid/engine/window/operators/keyed_time_windows.hpp>
#include <strid/engine/window/operators/lift.hpp>
#include <strid/stream/keyed_stream.hpp>
#include <strid/window/result.hpp>
#include <strid/window/update.hpp>

namespace strid::graph {

/// Each function uses the stream up. `why`: an additional text for explain().
template <class T, class KeyOf, class Upstream>
class KeyedWindows {
  protected:
    using Keyed = KeyedStream<T, KeyOf, Upstream>;
    using Time = typename Upstream::time_type;
    using K = operators::KeyType<KeyOf, T>;

  public:
    explicit KeyedWindows(Keyed keyed) : keyed_(std::move(keyed)) {}

    template <bool late_is_apart, class A>
    auto by_key(const window::TimeWindows& windows, A aggregate, const WindowOptions& options,
                const char* why) {
        using Lift = window::LiftAt<T, KeyOf, K, Time, A>;
        check(options);
        if constexpr (lifts_first<Lift> && !late_is_apart) {
            using Lifted = typename Lift::Lifted;
            using Sum = window::Merged<A, Lifted>;
            using Windows =
                window::KeyedTimeWindows<Lifted, Field<&Lifted::key>, K, Field<&Lifted::time>, Sum>;
            return lifted(Lift{keyed_.key_of_, keyed_.time(), aggregate},
                          Windows{windows, {}, {}, Sum{aggregate}, options}, options,
                          how_it_slides<A>(windows), why);
        } else {
            using Windows = window::KeyedTimeWindows<T, KeyOf, K, Time, A>;
            return windowed<late_is_apart>(
                Windows{windows, keyed_.key_of_, keyed_.time(), std::move(aggregate), options},
                options, how_it_slides<A>(windows), why);
        }
    }
    template <bool late_is_apart, class A>
    auto by_key(const window::SessionWindows& windows, A aggregate, const WindowOptions& options,
                const char* why) {
        return windowed<late_is_apart>(
            sessions<window::Firing::totals>(windows, std::move(aggregate), options), options,
            of_sessions, why);
    }
    template <bool, class A>
    auto by_key(const window::CountWindows& windows, A aggregate, const WindowOptions& options,
                const char* why) {
        using Lift = window::Lift<T, KeyOf, K, A>;
        check(options);
        if constexpr (lifts_first<Lift>) {
            using Lifted = typename Lift::Lifted;
            using Sum = window::Merged<A, Lifted>;
            using Windows = window::KeyedCountWindows<Lifted, Field<&Lifted::key>, K, Sum>;
            return lifted(Lift{keyed_.key_of_, aggregate},
                          Windows{windows, {}, Sum{aggregate}, options}, options,
                          how_it_slides<A>(windows), why);
        } else {
            using Windows = window::KeyedCountWindows<T, KeyOf, K, A>;
            return windowed<false>(Windows{windows, keyed_.key_of_, std::move(aggregate), options},
                                   options, how_it_slides<A>(windows), why);
        }
    }
    template <bool, class F, class A>
    auto by_key(window::GlobalWindows<F> windows, A aggregate, const WindowOptions& options,
                const char* why) {
        using Windows = window::KeyedGlobalWindows<T, KeyOf, K, F, A>;
        check(options);
        return windowed<false>(
            Windows{std::move(windows), keyed_.key_of_, std::move(aggregate), options}, options,
            "a state for each key, until the trigger clears it", why);
    }

    template <bool late_is_apart, class Windows, class A>
    auto updates(const Windows& windows, A aggregate, const UpdateOptions& options) {
        check(options);
        if constexpr (std::same_as<Windows, window::SessionWindows>) {
            if (options.fill_max != 0) {
                throw GraphError("every session has a record: fill_max is for windows of time");
            }
            return windowed<late_is_apart>(
                sessions<window::Firing::updates>(windows, std::move(aggregate), options), options,
                of_sessions);
        } else {
            using Updates = window::KeyedTimeWindows<T, KeyOf, K, Time, A, window::Firing::updates>;
            return windowed<late_is_apart>(
                Updates{windows, keyed_.key_of_, keyed_.time(), std::move(aggregate), options},
                options, how_it_slides<A>(windows));
        }
    }

  protected:
    static OperatorOptions of(const WindowOptions& options) {
        return {.name = options.name, .parallelism = options.parallelism};
    }

    Keyed keyed_;

  private:
    /// The edge is still to come, so it may as well carry what `Lift` makes of the records.
    template <class Lift>
    static constexpr bool lifts_first = Keyed::open && Lift::pays;

    static constexpr const char* shared_by_key = "by key: each replica has the windows of its keys";
    static constexpr const char* of_sessions =
        "a state for each session; those that a record joins become one";
    template <class A>
    static const char* how_it_slides(const auto& windows) {
        return windows.slide() < windows.length() ? window::how_it_slides<A>()
                                                  : "windows that do not overlap: a state for each";
    }

    template <window::Firing firing, class A, class Options>
    auto sessions(const window::SessionWindows& windows, A aggregate, const Options& options) {
        check(options);
        auto function = window::of_sessions(std::move(aggregate));
        return window::KeyedSessions<T, KeyOf, K, Time, decltype(function), firing>{
            windows, keyed_.key_of_, keyed_.time(), std::move(function), options};
    }

    /// A window operator, and how its windows are kept.
    template <bool late_is_apart, class Operator, class Options>
    auto windowed(Operator one, const Options& options, const char* kept, const char* why = "") {
        const WindowOptions& of_window = window::of_window(options);
        if constexpr (late_is_apart) {
            Time time = keyed_.time();
            return results_and_late<T>(keyed_.then(with_late<T>(std::move(one)), of(of_window),
                                                   "window", shared_by_key, kept, why),
                                       of_window.name, std::move(time));
        } else {
            return keyed_.then(std::move(one), of(of_window), "window", shared_by_key, kept, why);
        }
    }
    /// One whose records are lifted before they are sent.
    template <class Lift, class Operator>
    auto lifted(Lift lift, Operator one, const WindowOptions& options, const char* kept,
                const char* why) {
        using Lifted = typename Lift::Lifted;
        auto& upstream = keyed_.upstream_;
        auto info = upstream.handle_.describe(of(options), "window");
        lift.window_name = info.name;
        if constexpr (requires { lift.time_of.agree_with(nullptr); }) {
            lift.time_of.agree_with(upstream.handle_.assigned_time);
        }
        std::string name = upstream.handle_.behind("key_by");
        Stream<message::Hashed<Lifted>> hashed{
            std::move(upstream).routed(
                operators::KeyByRouter<T, KeyOf, Lift>{keyed_.key_of_, std::move(lift),
                                                       std::move(name)},
                Routing::key_by),
            {}};
        return std::move(hashed).described(std::move(one), std::move(info),
                                           "what it needs of a record is sent", shared_by_key, kept,
                                           why);
    }
};

}  // namespace strid::graph
