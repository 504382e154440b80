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
#include <strid/graph/window_table.hpp>
#include <strid/operator/event_time.hpp>
#include <strid/operator/per_key.hpp>
#include <strid/window/operators/keyed_process.hpp>
#include <strid/window/result.hpp>
#include <strid/window/update.hpp>

namespace strid {

/// A stream whose records are partitioned by key. The next operator is keyed: it has one copy of
/// its function, or one state, for each key; behind it the stream is an ordinary one. What is sent
/// of a record is for that operator to say: `Upstream` is a Stream whose edge is still to come, or
/// a KeyedEdge.
template <class T, class KeyOf, class Upstream>
class KeyedStream : graph::ConsumedOnce {
    using Once = graph::ConsumedOnce;
    using K = operators::KeyType<KeyOf, T>;
    using Time = typename Upstream::time_type;
    static constexpr bool open = !std::same_as<Upstream, graph::KeyedEdge<T, Time>>;
    using Arrived = message::Hashed<T>;
    /// Of a function without state one will do for all keys.
    template <class F, class Life>
    using Holder = std::conditional_t<std::is_empty_v<F>, operators::Plain<F>,
                                      operators::PerKey<F, T, KeyOf, Life>>;

  public:
    using Once::map, Once::filter, Once::flat_map, Once::sink;
    using Once::window, Once::accumulate, Once::reduce;

    /// Made by `key_by`.
    KeyedStream(Upstream upstream, KeyOf key_of)
        : upstream_(std::move(upstream)), key_of_(std::move(key_of)) {}

    /// As Stream::apply: an operator that takes `message::Hashed<T>`, or a function that makes one,
    /// `maker(ArrivingByKey<T, KeyOf>)`. The replica that owns a key has all records of it.
    template <class OperatorOrMaker>
    auto apply(OperatorOrMaker one, const OperatorOptions& options = {}) && {
        if constexpr (operators::HasTraits<OperatorOrMaker>) {
            return then(std::move(one), options, OperatorOrMaker::traits.kind);
        } else if constexpr (operators::takes_maker<OperatorOrMaker,
                                                    ArrivingByKey<T, KeyOf, Time>>()) {
            auto made = std::invoke(std::move(one), ArrivingByKey<T, KeyOf, Time>{key_of_, time()});
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
    /// The same; `life` says how long a key is kept (operator/forget_keys.hpp).
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
    /// The same; `life` says how long a key is kept.
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
    /// The same; `life` says how long a key is kept.
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
    /// The same; `life` says how long a key is kept.
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
    /// The same; `life` says how long a key is kept.
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

    /// Windows, with one value for each key: `window(windows, function)`, maybe with how the work
    /// is shared (graph/share.hpp) or `late_apart`, and options:
    ///
    ///     keyed.window(TimeWindows::sliding(10s, 5s), mean<&Trip::delay>())
    ///     auto [results, late] = keyed.window(windows, f, share::farmed | late_apart, {...});
    ///
    /// The windows are TimeWindows and SessionWindows, of the time of the stream: out comes a
    /// WindowResult<K, V> when the watermark passes a window's end. CountWindows, of a number of
    /// records of the key: out comes a WindowResult<K, V, CountBounds> with the record that
    /// completes a window. Or window::global(trigger), which fires and starts anew as the trigger
    /// says. Late records are counted, or the second stream of what comes out.
    ///
    /// Results of windows of time that are farmed are in the order of their ends, but for those
    /// that fire again; all others are in order for each key.
    ///
    /// Where the records are large and the aggregate's state is small, the time and the aggregate
    /// are asked before the records are sent (window/operators/lift.hpp): for every record, also
    /// one that is late or in no window, and by the replicas that send, at the same time. A
    /// function that may not be called so is put behind `sealed()`.
    template <class Windows, class A>
    auto window(Windows windows, A aggregate, const WindowOptions& options = {}) && {
        return std::move(*this).window(std::move(windows), std::move(aggregate), share::by_key,
                                       options);
    }
    /// The same, with the way in which replicas share the work (graph/share.hpp).
    template <class Windows, class A, WindowWay Way>
    auto window(Windows windows, A aggregate, Way way, const WindowOptions& options = {}) && {
        using By = decltype(graph::way_of<Share::by_key>(way));
        if constexpr (graph::takes_window<Windows, A, T, Time>()) {
            constexpr Share share = By::share == Share::automatic
                                        ? graph::chosen_share<Windows, A, K, By::late_is_apart>()
                                        : By::share;
            if constexpr (graph::can_share<Windows, A, K, share, By::late_is_apart, open>()) {
                return windows_of_it().template shared<By::share, By::late_is_apart>(
                    std::move(windows), std::move(aggregate), options);
            }
        }
    }

    /// Windows of event time or sessions whose rows say what they are (window/update.hpp): out
    /// come WindowUpdate<K, V>. The rows of a window that a late record changes are marked, a
    /// session that was given and grows is taken back, open windows may be given early, and
    /// windows of time without a record filled in.
    template <class Windows, class A>
    auto window_updates(Windows windows, A aggregate, const UpdateOptions& options = {}) && {
        return std::move(*this).template updates<false>(windows, std::move(aggregate), options);
    }
    /// The same with the late records as a stream of their own: `auto [updates, late] = ...`.
    template <class Windows, class A>
    auto window_updates(Windows windows, A aggregate, LateApart,
                        const UpdateOptions& options = {}) && {
        return std::move(*this).template updates<true>(windows, std::move(aggregate), options);
    }

    /// As Stream::timed_by.
    template <class TimeOf>
    [[nodiscard]] auto timed_by(TimeOf time_of) && {
        if constexpr (operators::takes_time<TimeOf, T>()) {
            if constexpr (open) {
                auto timed = std::move(upstream_).carrying(std::move(time_of));
                return KeyedStream<T, KeyOf, decltype(timed)>{std::move(timed), key_of_};
            } else {
                using Edge = graph::KeyedEdge<T, TimeOf>;
                return KeyedStream<T, KeyOf, Edge>{
                    Edge{std::move(upstream_.handle), std::move(time_of)}, key_of_};
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
    [[nodiscard]] auto merge(KeyedStream<T, KeyOf, Other>&& other) && {
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
                return KeyedStream<T, KeyOf, Edge>{Edge{std::move(merged.upstream_.handle), {}},
                                                   key_of_};
            }
        }
    }

    /// The same with records sent whole, whatever they are for: one type, wherever it comes from.
    [[nodiscard]] KeyedStream<T, KeyOf, graph::KeyedEdge<T, Time>> sealed() && {
        Time of_records = time();
        return {{std::move(*this).edge(), std::move(of_records)}, key_of_};
    }
    /// The function that says when a record happened, or a NoTime.
    [[nodiscard]] const Time& time() const noexcept { return upstream_.time(); }

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

    auto windows_of_it() { return graph::SharedWindows<T, KeyOf, Upstream>{std::move(*this)}; }
    template <bool late_is_apart, class Windows, class A>
    auto updates(const Windows& windows, A aggregate, const UpdateOptions& options) && {
        static_assert(!std::same_as<Windows, window::CountWindows>,
                      "a window of a number of records is given once, when it is full: window()");
        if constexpr (graph::takes_window<Windows, A, T, Time>()) {
            return windows_of_it().template updates<late_is_apart>(windows, std::move(aggregate),
                                                                   options);
        }
    }

    template <class Operator, class... Notes>
    auto then(Operator one, const OperatorOptions& options, std::string_view kind, Notes... notes) {
        Time of_records = time();
        StreamTimedBy<Arrived, Time> hashed{std::move(*this).edge(), {}, std::move(of_records)};
        return std::move(hashed).then(std::move(one), options, kind, notes...);
    }

    Upstream upstream_;
    KeyOf key_of_;  // the edge and the operator behind it have a copy each
};

}  // namespace strid
