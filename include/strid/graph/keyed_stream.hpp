// SPDX-License-Identifier: Apache-2.0
//
// The handle of a stream whose records are partitioned by key: what may follow a `key_by`.
//
// Threads: as Stream.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/base/field.hpp>
#include <strid/base/text_fields.hpp>
#include <strid/graph/alternatives.hpp>
#include <strid/graph/keyed_edge.hpp>
#include <strid/graph/stream.hpp>
#include <strid/operator/event_time.hpp>
#include <strid/operator/per_key.hpp>
#include <strid/window/keyed_count_windows.hpp>
#include <strid/window/keyed_global_windows.hpp>
#include <strid/window/keyed_process.hpp>
#include <strid/window/keyed_sessions.hpp>
#include <strid/window/keyed_time_windows.hpp>
#include <strid/window/lift.hpp>
#include <strid/window/partial.hpp>
#include <strid/window/result.hpp>
#include <strid/window/update.hpp>

namespace strid {

/// A stream whose records are partitioned by key. The next operator is keyed: it has one copy of
/// its function, or one state, for each key; behind it the stream is an ordinary one. What is sent
/// of a record is for that operator to say: `Upstream` is a Stream whose edge is still to come, or
/// a KeyedEdge. A window that adds up large records has them lifted before they are sent
/// (window/lift.hpp), by whoever sends them: where that takes long, `sealed()` leaves it to the
/// window's replicas.
template <class T, class KeyOf, class Upstream>
class KeyedStream : graph::ConsumedOnce {
    using Once = graph::ConsumedOnce;
    using K = operators::KeyType<KeyOf, T>;
    using Head = operators::InputHead<message::Hashed<T>>;
    static constexpr bool open = !std::same_as<Upstream, graph::KeyedEdge<T>>;
    /// The edge is still to come, so it may as well carry what `Lift` makes of the records.
    template <class Lift>
    static constexpr bool lifts_first = open && Lift::pays;
    template <class F>
    using Holder =
        std::conditional_t<std::is_empty_v<F>, operators::Plain<F>, operators::PerKey<F, KeyOf, K>>;

  public:
    using Once::map, Once::filter, Once::flat_map, Once::sink;
    using Once::window, Once::accumulate, Once::reduce;

    KeyedStream(Upstream upstream, KeyOf key_of)
        : upstream_(std::move(upstream)), key_of_(std::move(key_of)) {}
    KeyedStream(KeyedStream&&) noexcept = default;
    KeyedStream& operator=(KeyedStream&&) noexcept = default;

    /// As Stream::map, with one copy of `f` for each key.
    template <class F>
    auto map(F f, OperatorOptions options = {}) && {
        if constexpr (operators::takes_map<F, T>()) {
            using U = typename operators::MapResult<F, T>::type;
            return then<U>(operators::Map<Holder<F>>{hold(std::move(f))}, options, "map");
        }
    }
    /// As Stream::filter, with one copy of `f` for each key.
    template <class F>
    auto filter(F f, OperatorOptions options = {}) && {
        if constexpr (operators::takes_filter<F, T>()) {
            return then<T>(operators::Filter<Holder<F>>{hold(std::move(f))}, options, "filter");
        }
    }
    /// As Stream::flat_map, with one copy of `f` for each key.
    template <class U, class F>
    auto flat_map(F f, OperatorOptions options = {}) && {
        if constexpr (operators::takes_flat_map<F, T, U>()) {
            return then<U>(operators::FlatMap<Holder<F>, U>{hold(std::move(f))}, options,
                           "flat_map");
        }
    }

    /// One state per key, starting from `initial`: `void fold(State&, const T&)`. Out comes the key
    /// with its state, after every record or at the end of the stream. The state is kept longer
    /// than the records: it owns what it points to.
    template <class State, class Fold>
    auto accumulate(State initial, Fold fold, Emit emit = Emit::every_update,
                    OperatorOptions options = {}) && {
        if constexpr (operators::takes_fold<Fold, State, T>()) {
            using Stage = operators::Accumulate<State, Fold, KeyOf, K>;
            return then<Keyed<K, State>>(Stage{std::move(initial), std::move(fold), key_of_, emit},
                                         options, "accumulate");
        }
    }

    /// Combines the records of each key: `T f(const T& so_far, const T& record)`; out comes what
    /// is combined so far, after every record. A `T` that is held must own what it points to.
    template <class F>
    auto reduce(F f, OperatorOptions options = {}) && {
        if constexpr (operators::takes_reduce<F, T>()) {
            using Stage = operators::Reduce<T, F, KeyOf, K>;
            return then<T>(Stage{std::move(f), key_of_}, options, "reduce");
        }
    }

    /// A function with timers (window/keyed_process.hpp), one copy for each key: `U` is what it
    /// emits. Timers of event time need `event_time` somewhere before it. What the function keeps
    /// outlives the records: it owns what it points to (the compiler sees public members only).
    template <class U, class F>
    auto process(F f, OperatorOptions options = {}) && {
        if constexpr (operators::takes_process<F, T, U>()) {
            using Stage = window::KeyedProcess<T, KeyOf, K, F, U>;
            constexpr bool needs_watermarks =
                requires(F& function, Timers& timers, Emitter<U>& emit) {
                    function.on_timer(EventTime{}, timers, emit);
                };
            return then<U>(Stage{std::move(f), key_of_}, options, "process", needs_watermarks);
        }
    }

    /// Windows of event time, tumbling or sliding, with one aggregate for each key: out comes a
    /// WindowResult<K, V, TimeBounds> when the watermark passes a window's end. `time_of` says when
    /// a record happened. Needs `event_time` somewhere before it. Late records are counted.
    ///
    /// Where the records are large and the aggregate's state is small, `time_of` and the aggregate
    /// are asked before the records are sent (window/lift.hpp): for every record, also one that is
    /// late or in no window, and by the replicas that send, at the same time. A function that may
    /// not be called so is put behind `sealed()`.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window(window::TimeWindows windows, TimeOf time_of, A aggregate,
                WindowOptions options = {}) && {
        using Lift = window::LiftAt<T, KeyOf, K, TimeOf, A>;
        if constexpr (lifts_first<Lift>) {
            using Lifted = typename Lift::Lifted;
            using KeyOfLifted = Field<&Lifted::key>;
            using TimeOfLifted = Field<&Lifted::time>;
            using Sum = window::Merged<A, Lifted>;
            using Stage =
                window::KeyedTimeWindows<Lifted, KeyOfLifted, K, TimeOfLifted, Sum, false>;
            graph::check(options);
            auto stream = lifted<typename Stage::Out::Record>(
                Lift{key_of_, std::move(time_of), aggregate},
                Stage{windows, {}, {}, Sum{aggregate}, options}, options);
            stream.handle_.operators.back().needs_watermarks = true;
            return explained<A>(std::move(stream), windows);
        } else {
            using Stage = window::KeyedTimeWindows<T, KeyOf, K, TimeOf, A, false>;
            return explained<A>(
                timed<Stage>(windows, std::move(time_of), std::move(aggregate), options), windows);
        }
    }
    /// Sessions: a window lasts as long as the records of its key come within the gap.
    template <TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window(window::SessionWindows windows, TimeOf time_of, A aggregate,
                WindowOptions options = {}) && {
        auto function = window::of_sessions(std::move(aggregate));
        using Stage = window::KeyedSessions<T, KeyOf, K, TimeOf, decltype(function), false>;
        return explained(timed<Stage>(windows, std::move(time_of), std::move(function), options),
                         of_sessions);
    }
    /// Windows of a number of records of the key: out comes a WindowResult<K, V, CountBounds> with
    /// the record that completes a window. Who asks the aggregate: as above.
    template <window::FunctionOf<T> A>
    auto window(window::CountWindows windows, A aggregate, WindowOptions options = {}) && {
        const auto marked = [&windows](auto stream) {
            stream.handle_.operators.back().light = window::is_light<A>(windows);
            return stream;
        };
        using Lift = window::Lift<T, KeyOf, K, A>;
        if constexpr (lifts_first<Lift>) {
            using Lifted = typename Lift::Lifted;
            using KeyOfLifted = Field<&Lifted::key>;
            using Sum = window::Merged<A, Lifted>;
            using Stage = window::KeyedCountWindows<Lifted, KeyOfLifted, K, Sum>;
            return marked(explained<A>(
                lifted<typename Stage::Result>(
                    Lift{key_of_, aggregate}, Stage{windows, {}, Sum{aggregate}, options}, options),
                windows));
        } else {
            using Stage = window::KeyedCountWindows<T, KeyOf, K, A>;
            return marked(explained<A>(
                then<typename Stage::Result>(Stage{windows, key_of_, std::move(aggregate), options},
                                             of(options), "window"),
                windows));
        }
    }

    /// One window of everything, which fires and starts anew as a trigger of one's own says: out
    /// come WindowResult<K, V, CountBounds> with the positions of its records.
    template <class F, window::FunctionOf<T> A>
        requires window::TriggerOf<F, T>
    auto window(window::GlobalWindows<F> windows, A aggregate, WindowOptions options = {}) && {
        if constexpr (operators::keeps_no_text<F, const T&>()) {
            using Stage = window::KeyedGlobalWindows<T, KeyOf, K, F, A>;
            return explained(then<typename Stage::Result>(
                                 Stage{std::move(windows), key_of_, std::move(aggregate), options},
                                 of(options), "window"),
                             "a state for each key, until the trigger clears it");
        }
    }

    /// The same windows of event time or sessions, with the late records as a stream of their own:
    /// `auto [results, late] = ...`.
    template <class Windows, TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window_with_late(Windows windows, TimeOf time_of, A aggregate,
                          WindowOptions options = {}) && {
        if constexpr (std::same_as<Windows, window::SessionWindows>) {
            auto function = window::of_sessions(std::move(aggregate));
            using Stage = window::KeyedSessions<T, KeyOf, K, TimeOf, decltype(function), true>;
            return graph::results_and_late<typename Stage::Result, T>(
                explained(timed<Stage>(windows, std::move(time_of), std::move(function), options),
                          of_sessions),
                options.name);
        } else {
            using Stage = window::KeyedTimeWindows<T, KeyOf, K, TimeOf, A, true>;
            return graph::results_and_late<typename Stage::Result, T>(
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
        using Stage = window::KeyedTimeWindows<T, KeyOf, K, TimeOf, A, true>;
        return explained<A>(
            timed<Stage>(windows, std::move(time_of), std::move(aggregate), options), windows);
    }

    /// Windows of event time or sessions whose rows say what they are (window/update.hpp): out
    /// come WindowUpdate<K, V>. The rows of a window that a late record changes are marked, a
    /// session that was given and grows is taken back, open windows may be given early, and
    /// windows of time without a record filled in.
    template <class Windows, TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window_updates(Windows windows, TimeOf time_of, A aggregate,
                        UpdateOptions options = {}) && {
        return std::move(*this).template updates<false>(windows, std::move(time_of),
                                                        std::move(aggregate), options);
    }
    /// The same with the late records as a stream of their own: `auto [updates, late] = ...`.
    template <class Windows, TimeFunction<T> TimeOf, window::FunctionOf<T> A>
    auto window_updates_with_late(Windows windows, TimeOf time_of, A aggregate,
                                  UpdateOptions options = {}) && {
        auto stream = std::move(*this).template updates<true>(windows, std::move(time_of),
                                                              std::move(aggregate), options);
        using Any = typename decltype(stream)::record_type;
        return graph::results_and_late<std::variant_alternative_t<0, Any>, T>(std::move(stream),
                                                                              options.window.name);
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

    /// A stage of one's own that handles `message::Hashed<T>` (operator/stage.hpp); `Stage::Out` is
    /// what leaves it. For operators of the library.
    template <class Stage>
    auto through(Stage stage, const OperatorOptions& options, const char* kind,
                 bool needs_watermarks = true) && {
        return then<typename Stage::Out>(std::move(stage), options, kind, needs_watermarks);
    }

    /// The end of the stream, one replica owning all records of a key.
    template <class F>
    auto sink(F f, OperatorOptions options = {}) && {
        if constexpr (operators::takes_sink<F, T>()) {
            Stream<message::Hashed<T>> hashed{std::move(*this).edge(), {}};
            auto info = hashed.handle_.describe(options, "sink");
            info.parallel_by_default = graph::parallel_sink<F>;
            info.files = operators::files_of(f);
            hashed.handle_.operators.push_back(std::move(info));
            auto handle = std::move(hashed.handle_);
            graph::complete(std::move(handle),
                            std::move(hashed).appended(graph::Step<operators::Sink<F>, void>{
                                operators::Sink<F>{std::move(f)}}),
                            operators::NoRouter{}, graph::Routing::none, 0);
        }
    }

  private:
    template <class F>
    Holder<F> hold(F f) {
        if constexpr (std::is_empty_v<F>) {
            return operators::Plain<F>{std::move(f)};
        } else {
            return operators::PerKey<F, KeyOf, K>{std::move(f), key_of_};
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

    /// Says how the work is shared, and how windows are kept.
    template <class S>
    static S explained(S stream, const char* kept) {
        graph::OperatorInfo& info = stream.handle_.operators.back();
        info.say("by key: each replica has the windows of its keys");
        info.say(kept);
        return stream;
    }
    template <class A, class S, class Windows>
    static S explained(S stream, const Windows& windows) {
        return explained(std::move(stream), windows.slide() < windows.length()
                                                ? window::how_it_slides<A>()
                                                : "windows that do not overlap: a state for each");
    }
    static constexpr const char* of_sessions =
        "a state for each session; those that a record joins become one";

    /// A window whose records are lifted before they are sent.
    template <class U, class Lift, class Stage>
    auto lifted(Lift lift, Stage stage, const WindowOptions& options) {
        using Lifted = typename Lift::Lifted;
        auto info = upstream_.handle_.describe(of(options), "window");
        info.say("what it needs of a record is sent");
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
        return std::move(hashed).template then<U>(std::move(stage), std::move(info));
    }

    template <bool keeps_late, class Windows, class TimeOf, class A>
    auto updates(const Windows& windows, TimeOf time_of, A aggregate,
                 const UpdateOptions& options) && {
        static_assert(!std::same_as<Windows, window::CountWindows>,
                      "a window of a number of records is given once, when it is full: window()");
        if constexpr (std::same_as<Windows, window::SessionWindows>) {
            if (options.fill_max != 0) {
                throw GraphError("no session is without a record: fill_max is for windows of time");
            }
            auto function = window::of_sessions(std::move(aggregate));
            using Stage = window::KeyedSessions<T, KeyOf, K, TimeOf, decltype(function), keeps_late,
                                                window::Firing::updates>;
            return explained(
                timed<Stage>(windows, std::move(time_of), std::move(function), options),
                of_sessions);
        } else {
            using Stage = window::KeyedTimeWindows<T, KeyOf, K, TimeOf, A, keeps_late,
                                                   window::Firing::updates>;
            return explained<A>(
                timed<Stage>(windows, std::move(time_of), std::move(aggregate), options), windows);
        }
    }

    template <class Stage, class Windows, class TimeOf, class A, class Options>
    auto timed(Windows windows, TimeOf time_of, A aggregate, const Options& options) {
        graph::check(options);
        return then<typename Stage::Out::Record>(
            Stage{windows, key_of_, std::move(time_of), std::move(aggregate), options},
            of(window::of_window(options)), "window", true);
    }
    static OperatorOptions of(const WindowOptions& options) {
        return {.name = options.name, .parallelism = options.parallelism};
    }

    template <class U, class Stage>
    auto then(Stage stage, const OperatorOptions& options, const char* kind,
              bool needs_watermarks = false) {
        Stream<message::Hashed<T>> hashed{std::move(*this).edge(), {}};
        auto stream = std::move(hashed).template then<U>(std::move(stage), options, kind);
        stream.handle_.operators.back().needs_watermarks = needs_watermarks;
        return stream;
    }

    Upstream upstream_;
    KeyOf key_of_;  // the edge and the operator behind it have a copy each
};

}  // namespace strid
