// SPDX-License-Identifier: Apache-2.0
//
// The handle of a stream that is partitioned by key, with the operators that may follow a `key_by`.
//
// Threads: as Stream.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <strid/base/field.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/plan/alternatives.hpp>
#include <strid/engine/plan/keyed_edge.hpp>
#include <strid/engine/plan/way_of.hpp>
#include <strid/engine/plan/window_table.hpp>
#include <strid/engine/window/operators/keyed_process.hpp>
#include <strid/operator/event_time.hpp>
#include <strid/operator/per_key.hpp>
#include <strid/stream/stream.hpp>
#include <strid/window/result.hpp>
#include <strid/window/update.hpp>

namespace strid {

/// A stream whose records are partitioned by key. The next operator is keyed: it has one copy of
/// its function, or one state, for each key. Its results are an ordinary stream. The next operator
/// decides which part of a record is sent: `Upstream` is a Stream whose edge is not made yet, or a
/// KeyedEdge. `Life` says how long the state of a key is kept (operator/forget_keys.hpp).
template <class T, class KeyOf, class Upstream, class Life>
class KeyedStream : graph::ConsumedOnce {
    using Once = graph::ConsumedOnce;
    using K = operators::KeyType<KeyOf, T>;
    using Time = typename Upstream::time_type;
    static constexpr bool open = !std::same_as<Upstream, graph::KeyedEdge<T, Time>>;
    using Arrived = message::Hashed<T>;
    /// A function without state needs one copy for all keys.
    template <class F>
    using Holder = std::conditional_t<std::is_empty_v<F>, operators::Plain<F>,
                                      operators::PerKey<F, T, KeyOf, Life>>;

  public:
    using Once::map, Once::filter, Once::flat_map, Once::sink;
    using Once::window, Once::accumulate, Once::reduce;

    /// Made by `key_by`.
    KeyedStream(Upstream upstream, KeyOf key_of, Life life = {})
        : upstream_(std::move(upstream)), key_of_(std::move(key_of)), life_(life) {}

    /// As Stream::apply: an operator that takes `message::Hashed<T>`, or a function that makes one,
    /// `maker(ArrivingByKey<T, KeyOf>)`. The replica that owns a key has all records of it.
    template <class OperatorOrMaker>
    auto apply(OperatorOrMaker one, const OperatorOptions& options = {}) && {
        if constexpr (operators::keys_are_kept<Life>()) {
            auto made = operators::operator_of(std::move(one), arriving());
            return hashed().added(std::move(made), options);
        }
    }
    /// As Stream::apply with the late records as a stream of their own.
    template <class OperatorOrMaker>
    auto apply(OperatorOrMaker one, LateApart, const OperatorOptions& options = {}) && {
        if constexpr (operators::keys_are_kept<Life>()) {
            auto made = operators::operator_of(std::move(one), arriving());
            return hashed().template added_with_late<T>(std::move(made), options);
        }
    }

    /// As Stream::map, with one copy of `f` for each key where it has state.
    template <class F>
    auto map(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_map<F, T>()) {
            return apply_held<operators::Map<Arrived, F, Holder<F>>>(std::move(f), options);
        }
    }
    /// As Stream::filter, with copies of `f` as for map.
    template <class F>
    auto filter(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_filter<F, T>()) {
            return apply_held<operators::Filter<Arrived, F, Holder<F>>>(std::move(f), options);
        }
    }
    /// As Stream::flat_map, with copies of `f` as for map.
    template <class U, class F>
    auto flat_map(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_flat_map<F, T, U>()) {
            return apply_held<operators::FlatMap<Arrived, U, F, Holder<F>>>(std::move(f), options);
        }
    }

    /// Does not compile: Stream::call stands before `key_by`. It keeps the order of the stream, and
    /// so that of each key; the key has no part in a call.
    template <class F>
    void call(F, const CallOptions& = {}, const OperatorOptions& = {}) && {
        static_assert(std::is_void_v<F>,
                      "call stands before key_by: stream.call(f).key_by(key). It keeps the order "
                      "of the stream, and so that of the records of each key");
    }

    /// One state per key, starting from `initial`: `void fold(State&, const T&)`. Emits the key
    /// with its state, after every record or at the end of the stream. The state outlives the
    /// records, so it must own what it points to.
    template <class State, class Fold>
    auto accumulate(State initial, Fold fold, Emit when = Emit::every_update,
                    const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_fold<Fold, State, T>() &&
                      operators::can_keep<Life, K, State>()) {
            using Accumulate = operators::Accumulate<T, State, Fold, KeyOf, Life>;
            return then(Accumulate{std::move(initial), std::move(fold), key_of_, when, life_},
                        options, Accumulate::traits.kind);
        }
    }

    /// Combines the records of each key: `T f(const T& so_far, const T& record)`; emits the
    /// combination so far after every record. The combination is kept, so `T` must own what it
    /// points to.
    template <class F>
    auto reduce(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_reduce<F, T>() &&
                      operators::can_keep<Life, K, std::optional<T>>()) {
            using Reduce = operators::Reduce<T, F, KeyOf, Life>;
            return then(Reduce{std::move(f), key_of_, life_}, options, Reduce::traits.kind);
        }
    }

    /// A function with timers (window/timers.hpp), one copy for each key: `U` is
    /// what it emits. Timers of event time need `event_time` somewhere before it. State of the
    /// function outlives the records, so it must own what it points to (the compiler checks public
    /// members only).
    template <class U, class F>
    auto process(F f, const OperatorOptions& options = {}) && {
        if constexpr (!operators::takes_process<F, T, U>()) {
            return;
        } else if constexpr (std::same_as<Life, StoredKeys>) {
            using Process = window::StoredProcess<T, KeyOf, K, F, U>;
            constexpr bool is_included = requires { sizeof(Process); };
            static_assert(is_included,
                          "process behind keep_in_memory needs <strid/window/stored_process.hpp>");
            if constexpr (is_included && operators::can_keep<Life, K, F>()) {
                Process process{std::move(f), key_of_, life_};
                return hashed().added(std::move(process), options);
            }
        } else {
            using Process = window::KeyedProcess<T, KeyOf, K, F, U>;
            return std::move(*this).apply(Process{std::move(f), key_of_}, options);
        }
    }

    /// Windows, with one value for each key: `window(windows, function)`. Then may follow the way
    /// to share the work (stream/share.hpp), `late_apart`, or both, and the options:
    ///
    ///     keyed.window(TimeWindows::sliding(10s, 5s), mean<&Trip::delay>())
    ///     auto [results, late] = keyed.window(windows, f, share::farmed | late_apart, {...});
    ///
    /// TimeWindows and SessionWindows use the time of the stream, and emit a WindowResult<K, V>
    /// when the watermark passes the end of a window. CountWindows count the records of the key,
    /// and emit a WindowResult<K, V, CountBounds> at the record that completes a window.
    /// window::global(trigger) fires and clears the window as the trigger says. Late records are
    /// counted, or with `late_apart` are the second stream.
    ///
    /// The results of farmed windows of time are in the order of their ends, except those of
    /// windows that fire again. The results of all other windows are in order for each key.
    ///
    /// Where the records are large and the aggregate's state is small, the time function and the
    /// aggregate's `lift` are called before the records are sent
    /// (engine/window/operators/lift.hpp). They are then called for every record, even if it is
    /// late or in no window, and by several sending replicas at the same time. If a function must
    /// not be called like this, call `sealed()` before `window`.
    template <class Windows, class A>
    auto window(Windows windows, A aggregate, const WindowOptions& options = {}) && {
        return std::move(*this).window(std::move(windows), std::move(aggregate), share::by_key,
                                       options);
    }
    /// The same, with the way in which replicas share the work (stream/share.hpp).
    template <class Windows, class A, WindowWay Way>
    auto window(Windows windows, A aggregate, Way way, const WindowOptions& options = {}) && {
        using By = decltype(graph::way_of<Share::by_key>(way));
        if constexpr (operators::keys_are_kept<Life>() &&
                      graph::takes_window<Windows, A, T, Time>()) {
            constexpr Share share = By::share == Share::automatic
                                        ? graph::chosen_share<Windows, A, K, By::late_is_apart>()
                                        : By::share;
            if constexpr (graph::can_share<Windows, A, K, share, By::late_is_apart, open>()) {
                return windows_of_it().template shared<By::share, By::late_is_apart>(
                    std::move(windows), std::move(aggregate), options);
            }
        }
    }

    /// Windows of event time or sessions whose rows are marked (window/update.hpp), for options
    /// `UpdateOptions{...}`. Emits WindowUpdate<K, V>. A row that a late record changes is marked
    /// as an update, and an emitted session that grows is retracted. Open windows may be emitted
    /// early, and windows of time without a record filled in.
    template <class Windows, class A, std::same_as<UpdateOptions> Options>
    auto window(Windows windows, A aggregate, const Options& options) && {
        return std::move(*this).template updates<false>(windows, std::move(aggregate), options);
    }
    /// The same with the late records as a stream of their own: `auto [results, late] = ...`.
    template <class Windows, class A, std::same_as<UpdateOptions> Options>
    auto window(Windows windows, A aggregate, LateApart, const Options& options) && {
        return std::move(*this).template updates<true>(windows, std::move(aggregate), options);
    }

    /// As Stream::timed_by.
    template <class TimeOf>
    [[nodiscard]] auto timed_by(TimeOf time_of) && {
        if constexpr (operators::takes_time<TimeOf, T>()) {
            if constexpr (open) {
                auto timed = std::move(upstream_).carrying(std::move(time_of));
                using Timed = KeyedStream<T, KeyOf, decltype(timed), Life>;
                return Timed{std::move(timed), key_of_, life_};
            } else {
                using Edge = graph::KeyedEdge<T, TimeOf>;
                return KeyedStream<T, KeyOf, Edge, Life>{
                    Edge{std::move(upstream_.handle), std::move(time_of)}, key_of_, life_};
            }
        }
    }
    /// As above, by a member of the record.
    template <auto Member>
        requires std::is_member_pointer_v<decltype(Member)>
    [[nodiscard]] auto timed_by() && {
        return std::move(*this).timed_by(field<Member>);
    }

    /// Joins two streams with the same key into one, in no particular order between them.
    template <class Other>
    [[nodiscard]] auto merge(KeyedStream<T, KeyOf, Other, Life>&& other) && {
        using Its = typename Other::time_type;
        if constexpr (operators::agree_on_time<Time, Its>()) {
            using Both = std::conditional_t<std::same_as<Time, Its>, Time, NoTime>;
            operators::check_same_time(time(), other.time());
            auto merged = std::move(*this).sealed();
            merged.upstream_.handle.join(std::move(other).edge());
            if constexpr (std::same_as<Both, Time>) {
                return merged;
            } else {
                using Edge = graph::KeyedEdge<T, Both>;
                return KeyedStream<T, KeyOf, Edge, Life>{
                    Edge{std::move(merged.upstream_.handle), {}}, key_of_, life_};
            }
        }
    }

    /// The same stream with the edge made now, so that whole records are sent. Its type does not
    /// depend on the operators before.
    [[nodiscard]] KeyedStream<T, KeyOf, graph::KeyedEdge<T, Time>, Life> sealed() && {
        Time of_records = time();
        return {{std::move(*this).edge(), std::move(of_records)}, key_of_, life_};
    }
    /// The function that says when a record happened, or a NoTime.
    [[nodiscard]] const Time& time() const noexcept { return upstream_.time(); }

    /// Ends the stream with a sink; one replica gets all records of a key.
    template <class F>
    auto sink(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_sink<F, T>()) {
            then(operators::Sink<Arrived, F>{std::move(f)}, options, "sink");
        }
    }

  private:
    template <class Operator, class F>
    auto apply_held(F f, const OperatorOptions& options) {
        if constexpr (std::is_empty_v<F>) {
            return then(Operator{operators::Plain<F>{std::move(f)}}, options,
                        Operator::traits.kind);
        } else if constexpr (operators::can_keep<Life, K, F>()) {
            return then(Operator{Holder<F>{std::move(f), key_of_, life_}}, options,
                        Operator::traits.kind);
        }
    }

    template <class, class, class, class>
    friend class KeyedStream;
    template <class, class, class>
    friend class graph::KeyedWindows;
    template <class, class, class>
    friend class graph::SharedWindows;

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

    ArrivingByKey<T, KeyOf, Time> arriving() const { return {key_of_, time()}; }
    auto windows_of_it() { return graph::SharedWindows<T, KeyOf, Upstream>{std::move(*this)}; }
    template <bool late_is_apart, class Windows, class A>
    auto updates(const Windows& windows, A aggregate, const UpdateOptions& options) && {
        static_assert(!std::same_as<Windows, window::CountWindows>,
                      "a window of a number of records is given once, when it is full: window()");
        if constexpr (operators::keys_are_kept<Life>() &&
                      graph::takes_window<Windows, A, T, Time>()) {
            return windows_of_it().template updates<late_is_apart>(windows, std::move(aggregate),
                                                                   options);
        }
    }

    template <class Operator, class... Notes>
    auto then(Operator one, const OperatorOptions& options, std::string_view kind, Notes... notes) {
        return hashed().then(std::move(one), options, kind, notes...);
    }
    /// The stream of the records with their hashes, behind the edge.
    StreamTimedBy<Arrived, Time> hashed() {
        Time of_records = time();
        return {std::move(*this).edge(), {}, std::move(of_records)};
    }

    Upstream upstream_;
    KeyOf key_of_;  // the edge and the operator behind it have a copy each
    [[no_unique_address]] Life life_;
};

}  // namespace strid
