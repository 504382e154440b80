// SPDX-License-Identifier: Apache-2.0
//
// The handle of a stream whose records are partitioned by key: what may follow a `key_by`.
//
// Threads: as Stream.
#pragma once

#include <concepts>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <strid/base/field.hpp>
#include <strid/base/text_fields.hpp>
#include <strid/graph/alternatives.hpp>
#include <strid/graph/keyed_edge.hpp>
#include <strid/graph/stream.hpp>
#include <strid/operator/event_time.hpp>
#include <strid/operator/per_key.hpp>
#include <strid/window/aggregates/partial.hpp>
#include <strid/window/operators/keyed_count_windows.hpp>
#include <strid/window/operators/keyed_global_windows.hpp>
#include <strid/window/operators/keyed_process.hpp>
#include <strid/window/operators/keyed_sessions.hpp>
#include <strid/window/operators/keyed_time_windows.hpp>
#include <strid/window/operators/lift.hpp>
#include <strid/window/result.hpp>
#include <strid/window/update.hpp>

namespace strid {

/// A stream whose records are partitioned by key. The next operator is keyed: it has one copy of
/// its function, or one state, for each key; behind it the stream is an ordinary one. What is sent
/// of a record is for that operator to say: `Upstream` is a Stream whose edge is still to come, or
/// a KeyedEdge. A window that adds up large records has them lifted before they are sent
/// (window/operators/lift.hpp) where they are sent: `sealed()` leaves what takes long to the
/// window's replicas.
template <class T, class KeyOf, class Upstream>
class KeyedStream : graph::ConsumedOnce {
    using Once = graph::ConsumedOnce;
    using K = operators::KeyType<KeyOf, T>;
    static constexpr bool open = !std::same_as<Upstream, graph::KeyedEdge<T>>;
    /// The edge is still to come, so it may as well carry what `Lift` makes of the records.
    template <class Lift>
    static constexpr bool lifts_first = open && Lift::pays;
    using Arrived = message::Hashed<T>;
    /// Of a function without state one will do for all keys.
    template <class F, class Life>
    using Holder = std::conditional_t<std::is_empty_v<F>, operators::Plain<F>,
                                      operators::PerKey<F, T, KeyOf, Life>>;

  public:
    using Once::map, Once::filter, Once::flat_map, Once::sink;
    using Once::window, Once::accumulate, Once::reduce;

    KeyedStream(Upstream upstream, KeyOf key_of)
        : upstream_(std::move(upstream)), key_of_(std::move(key_of)) {}

    /// As Stream::apply: an operator that takes `message::Hashed<T>`, or a function that makes one,
    /// `maker(ArrivingByKey<T, KeyOf>)`. The replica that owns a key has all records of it.
    template <class OperatorOrMaker>
    auto apply(OperatorOrMaker one, const OperatorOptions& options = {}) && {
        if constexpr (operators::SaysTraits<OperatorOrMaker>) {
            return then(std::move(one), options, OperatorOrMaker::traits.kind);
        } else if constexpr (operators::takes_maker<OperatorOrMaker, ArrivingByKey<T, KeyOf>>()) {
            auto made = std::invoke(std::move(one), ArrivingByKey<T, KeyOf>{key_of_});
            constexpr std::string_view kind = operators::kind_of<decltype(made)>();
            return then(std::move(made), options, kind);
        }
    }

    /// As Stream::map, with one copy of `f` for each key where it has state: for the run, or as
    /// `life` says (operator/forget_keys.hpp).
    template <class F>
    auto map(F f, const OperatorOptions& options = {}) && {
        return std::move(*this).map(std::move(f), KeepKeys{}, options);
    }
    template <class F, KeysLife Life>
    auto map(F f, Life life, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_map<F, T>()) {
            using Map = operators::Map<Arrived, F, Holder<F, Life>>;
            return apply_held<Map>(std::move(f), life, options);
        }
    }
    /// As Stream::filter; of the copies of `f` the same holds.
    template <class F>
    auto filter(F f, const OperatorOptions& options = {}) && {
        return std::move(*this).filter(std::move(f), KeepKeys{}, options);
    }
    template <class F, KeysLife Life>
    auto filter(F f, Life life, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_filter<F, T>()) {
            using Filter = operators::Filter<Arrived, F, Holder<F, Life>>;
            return apply_held<Filter>(std::move(f), life, options);
        }
    }
    /// As Stream::flat_map; of the copies of `f` the same holds.
    template <class U, class F>
    auto flat_map(F f, const OperatorOptions& options = {}) && {
        return std::move(*this).template flat_map<U>(std::move(f), KeepKeys{}, options);
    }
    template <class U, class F, KeysLife Life>
    auto flat_map(F f, Life life, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_flat_map<F, T, U>()) {
            using FlatMap = operators::FlatMap<Arrived, U, F, Holder<F, Life>>;
            return apply_held<FlatMap>(std::move(f), life, options);
        }
    }

    /// One state per key, starting from `initial`: `void fold(State&, const T&)`. Out comes the key
    /// with its state, after every record or at the end of the stream. The state is kept longer
    /// than the records: it owns what it points to. Keys are kept for the run, or as `life` says.
    template <class State, class Fold>
    auto accumulate(State initial, Fold fold, Emit when = Emit::every_update,
                    const OperatorOptions& options = {}) && {
        return std::move(*this).accumulate(std::move(initial), std::move(fold), when, KeepKeys{},
                                           options);
    }
    template <class State, class Fold, KeysLife Life>
    auto accumulate(State initial, Fold fold, Emit when, Life life,
                    const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_fold<Fold, State, T>()) {
            using Accumulate = operators::Accumulate<T, State, Fold, KeyOf, Life>;
            return std::move(*this).apply(
                Accumulate{std::move(initial), std::move(fold), key_of_, when, life}, options);
        }
    }

    /// Combines the records of each key: `T f(const T& so_far, const T& record)`; out comes what
    /// is combined so far, after every record. A `T` that is held must own what it points to. Keys
    /// are kept for the run, or as `life` says.
    template <class F>
    auto reduce(F f, const OperatorOptions& options = {}) && {
        return std::move(*this).reduce(std::move(f), KeepKeys{}, options);
    }
    template <class F, KeysLife Life>
    auto reduce(F f, Life life, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_reduce<F, T>()) {
            using Reduce = operators::Reduce<T, F, KeyOf, Life>;
            return std::move(*this).apply(Reduce{std::move(f), key_of_, life}, options);
        }
    }

    /// A function with timers (window/operators/keyed_process.hpp), one copy for each key: `U` is
    /// what it emits. Timers of event time need `event_time` somewhere before it. What the function
    /// keeps outlives the records: it owns what it points to (the compiler sees public members
    /// only).
    template <class U, class F>
    auto process(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_process<F, T, U>()) {
            using Process = window::KeyedProcess<T, KeyOf, K, F, U>;
            return std::move(*this).apply(Process{std::move(f), key_of_}, options);
        }
    }

    /// Windows of event time, tumbling or sliding, with one aggregate for each key: out comes a
    /// WindowResult<K, V, TimeBounds> when the watermark passes a window's end. `time_of` says when
    /// a record happened. Needs `event_time` somewhere before it. Late records are counted.
    ///
    /// Where the records are large and the aggregate's state is small, `time_of` and the aggregate
    /// are asked before the records are sent (window/operators/lift.hpp): for every record, also
    /// one that is late or in no window, and by the replicas that send, at the same time. A
    /// function that may not be called so is put behind `sealed()`.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window(window::TimeWindows windows, TimeOf time_of, A aggregate,
                WindowOptions options = {}) && {
        using Lift = window::LiftAt<T, KeyOf, K, TimeOf, A>;
        if constexpr (lifts_first<Lift>) {
            using Lifted = typename Lift::Lifted;
            using KeyOfLifted = Field<&Lifted::key>;
            using TimeOfLifted = Field<&Lifted::time>;
            using Sum = window::Merged<A, Lifted>;
            using Windows = window::KeyedTimeWindows<Lifted, KeyOfLifted, K, TimeOfLifted, Sum>;
            graph::check(options);
            return lifted(Lift{key_of_, std::move(time_of), aggregate},
                          Windows{windows, {}, {}, Sum{aggregate}, options}, options,
                          how_it_slides<A>(windows));
        } else {
            using Windows = window::KeyedTimeWindows<T, KeyOf, K, TimeOf, A>;
            graph::check(options);
            return windowed(
                Windows{windows, key_of_, std::move(time_of), std::move(aggregate), options},
                options, how_it_slides<A>(windows));
        }
    }
    /// Sessions: a window lasts as long as the records of its key come within the gap.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window(window::SessionWindows windows, TimeOf time_of, A aggregate,
                WindowOptions options = {}) && {
        return windowed(sessions<window::Firing::totals>(windows, std::move(time_of),
                                                         std::move(aggregate), options),
                        options, of_sessions);
    }
    /// Windows of a number of records of the key: out comes a WindowResult<K, V, CountBounds> with
    /// the record that completes a window. Who asks the aggregate: as above.
    template <window::FunctionOf<T> A>
    auto window(window::CountWindows windows, A aggregate, WindowOptions options = {}) && {
        using Lift = window::Lift<T, KeyOf, K, A>;
        if constexpr (lifts_first<Lift>) {
            using Lifted = typename Lift::Lifted;
            using KeyOfLifted = Field<&Lifted::key>;
            using Sum = window::Merged<A, Lifted>;
            using Windows = window::KeyedCountWindows<Lifted, KeyOfLifted, K, Sum>;
            return lifted(Lift{key_of_, aggregate}, Windows{windows, {}, Sum{aggregate}, options},
                          options, how_it_slides<A>(windows));
        } else {
            using Windows = window::KeyedCountWindows<T, KeyOf, K, A>;
            return windowed(Windows{windows, key_of_, std::move(aggregate), options}, options,
                            how_it_slides<A>(windows));
        }
    }

    /// One window of everything, which fires and starts anew as a trigger of one's own says: out
    /// come WindowResult<K, V, CountBounds> with the positions of its records.
    template <class F, window::FunctionOf<T> A>
        requires window::TriggerOf<F, T>
    auto window(window::GlobalWindows<F> windows, A aggregate, WindowOptions options = {}) && {
        if constexpr (operators::keeps_no_text<F, const T&>()) {
            using Windows = window::KeyedGlobalWindows<T, KeyOf, K, F, A>;
            return windowed(Windows{std::move(windows), key_of_, std::move(aggregate), options},
                            options, "a state for each key, until the trigger clears it");
        }
    }

    /// The same windows of event time or sessions, with the late records as a stream of their own:
    /// `auto [results, late] = ...`.
    template <class Windows, TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window(Windows windows, TimeOf time_of, A aggregate, LateApart,
                WindowOptions options = {}) && {
        if constexpr (std::same_as<Windows, window::SessionWindows>) {
            auto stream = windowed(graph::with_late<T>(sessions<window::Firing::totals>(
                                       windows, std::move(time_of), std::move(aggregate), options)),
                                   options, of_sessions);
            return graph::results_and_late<T>(std::move(stream), options.name);
        } else {
            return graph::results_and_late<T>(
                std::move(*this).results_or_late(windows, std::move(time_of), std::move(aggregate),
                                                 options),
                options.name);
        }
    }
    /// Those of event time before results and late records are parted. For operators of the
    /// library.
    template <class TimeOf, class A>
    auto results_or_late(window::TimeWindows windows, TimeOf time_of, A aggregate,
                         const WindowOptions& options) && {
        using Windows = window::KeyedTimeWindows<T, KeyOf, K, TimeOf, A>;
        graph::check(options);
        return windowed(graph::with_late<T>(Windows{windows, key_of_, std::move(time_of),
                                                    std::move(aggregate), options}),
                        options, how_it_slides<A>(windows));
    }

    /// Windows of event time or sessions whose rows say what they are (window/update.hpp): out
    /// come WindowUpdate<K, V>. The rows of a window that a late record changes are marked, a
    /// session that was given and grows is taken back, open windows may be given early, and
    /// windows of time without a record filled in.
    template <class Windows, TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window_updates(Windows windows, TimeOf time_of, A aggregate,
                        UpdateOptions options = {}) && {
        return updates(windows, std::move(time_of), std::move(aggregate), options,
                       [](auto one) { return one; });
    }
    /// The same with the late records as a stream of their own: `auto [updates, late] = ...`.
    template <class Windows, TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window_updates(Windows windows, TimeOf time_of, A aggregate, LateApart,
                        UpdateOptions options = {}) && {
        auto stream = updates(windows, std::move(time_of), std::move(aggregate), options,
                              [](auto one) { return graph::with_late<T>(std::move(one)); });
        return graph::results_and_late<T>(std::move(stream), options.window.name);
    }

    /// Joins two streams with the same key into one, in no particular order between them.
    template <class Other>
    [[nodiscard]] KeyedStream<T, KeyOf> merge(KeyedStream<T, KeyOf, Other>&& other) && {
        graph::Handle merged = std::move(*this).edge();
        merged.join(std::move(other).edge());
        return {{std::move(merged)}, key_of_};
    }

    /// The same with records sent whole, whatever they are for: one type, wherever it comes from.
    [[nodiscard]] KeyedStream<T, KeyOf> sealed() && { return {{std::move(*this).edge()}, key_of_}; }

    /// The end of the stream, one replica owning all records of a key.
    template <class F>
    auto sink(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_sink<F, T>()) {
            then(operators::Sink<Arrived, F>{std::move(f)}, options, "sink");
        }
    }

  private:
    template <class Operator, class F, class Life>
    auto apply_held(F f, Life life, const OperatorOptions& options) {
        if constexpr (std::is_empty_v<F>) {
            return then(Operator{operators::Plain<F>{std::move(f)}}, options,
                        Operator::traits.kind);
        } else {
            return then(Operator{Holder<F, Life>{std::move(f), key_of_, life}}, options,
                        Operator::traits.kind);
        }
    }

    template <class, class, class>
    friend class KeyedStream;

    /// Ends the segment before with the edge, where that is not there yet.
    graph::Handle edge() && {
        if constexpr (open) {
            return std::move(upstream_).routed(
                operators::KeyByRouter<T, KeyOf>{key_of_, {}, upstream_.handle_.behind("key_by")},
                graph::Routing::key_by);
        } else {
            return std::move(upstream_.handle);
        }
    }

    static constexpr const char* shared_by_key = "by key: each replica has the windows of its keys";
    static constexpr const char* of_sessions =
        "a state for each session; those that a record joins become one";
    template <class A>
    static const char* how_it_slides(const auto& windows) {
        return windows.slide() < windows.length() ? window::how_it_slides<A>()
                                                  : "windows that do not overlap: a state for each";
    }

    /// A window operator, and how its windows are kept.
    template <class Operator, class Options>
    auto windowed(Operator one, const Options& options, const char* kept) {
        return then(std::move(one), of(window::of_window(options)), "window", shared_by_key, kept);
    }
    /// One whose records are lifted before they are sent.
    template <class Lift, class Operator>
    auto lifted(Lift lift, Operator one, const WindowOptions& options, const char* kept) {
        using Lifted = typename Lift::Lifted;
        auto info = upstream_.handle_.describe(of(options), "window");
        lift.window_name = info.name;
        if constexpr (requires { lift.time_of.agree_with(nullptr); }) {
            lift.time_of.agree_with(upstream_.handle_.promised_time);
        }
        Stream<message::Hashed<Lifted>> hashed{
            std::move(upstream_).routed(
                operators::KeyByRouter<T, KeyOf, Lift>{key_of_, std::move(lift),
                                                       upstream_.handle_.behind("key_by")},
                graph::Routing::key_by),
            {}};
        return std::move(hashed).described(std::move(one), std::move(info),
                                           "what it needs of a record is sent", shared_by_key,
                                           kept);
    }

    template <window::Firing firing, class TimeOf, class A, class Options>
    auto sessions(const window::SessionWindows& windows, TimeOf time_of, A aggregate,
                  const Options& options) {
        graph::check(options);
        auto function = window::of_sessions(std::move(aggregate));
        return window::KeyedSessions<T, KeyOf, K, TimeOf, decltype(function), firing>{
            windows, key_of_, std::move(time_of), std::move(function), options};
    }

    /// `finished(operator)` is what is applied.
    template <class Windows, class TimeOf, class A, class Finished>
    auto updates(const Windows& windows, TimeOf time_of, A aggregate, const UpdateOptions& options,
                 const Finished& finished) {
        static_assert(!std::same_as<Windows, window::CountWindows>,
                      "a window of a number of records is given once, when it is full: window()");
        if constexpr (std::same_as<Windows, window::SessionWindows>) {
            if (options.fill_max != 0) {
                throw GraphError("no session is without a record: fill_max is for windows of time");
            }
            return windowed(finished(sessions<window::Firing::updates>(
                                windows, std::move(time_of), std::move(aggregate), options)),
                            options, of_sessions);
        } else {
            using Updates =
                window::KeyedTimeWindows<T, KeyOf, K, TimeOf, A, window::Firing::updates>;
            graph::check(options);
            return windowed(finished(Updates{windows, key_of_, std::move(time_of),
                                             std::move(aggregate), options}),
                            options, how_it_slides<A>(windows));
        }
    }

    static OperatorOptions of(const WindowOptions& options) {
        return {.name = options.name, .parallelism = options.parallelism};
    }

    template <class Operator, class... Notes>
    auto then(Operator one, const OperatorOptions& options, std::string_view kind, Notes... notes) {
        Stream<Arrived> hashed{std::move(*this).edge(), {}};
        return std::move(hashed).then(std::move(one), options, kind, notes...);
    }

    Upstream upstream_;
    KeyOf key_of_;  // the edge and the operator behind it have a copy each
};

}  // namespace strid
