// SPDX-License-Identifier: Apache-2.0
//
// The handle that applications are written with. A `Stream<T>` stands for the records of type `T`
// that leave the last operator so far; each call adds an operator and gives the next handle.
//
// A stream is consumed exactly once: its functions take it as an rvalue, so using one twice does
// not compile; to read it twice, `tee` it. Its second parameter is the chain of operators that are
// fused so far. Every stream converts to a plain `Stream<T>`, which can be stored or passed to a
// function that is not a template; the conversion ends the fusion.
//
// Threads: a graph is built by one thread. No record passes here: this is the control plane.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/field.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/operator/checks.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/per_record.hpp>
#include <strid/engine/plan/alternatives.hpp>
#include <strid/engine/plan/consumed_once.hpp>
#include <strid/engine/plan/every_branch.hpp>
#include <strid/engine/plan/handle.hpp>
#include <strid/engine/plan/one_group.hpp>
#include <strid/engine/plan/segment.hpp>
#include <strid/engine/plan/way_of.hpp>
#include <strid/operator/batches.hpp>
#include <strid/operator/call.hpp>
#include <strid/operator/per_key.hpp>
#include <strid/stream/branches.hpp>
#include <strid/stream/epoch_outlet.hpp>
#include <strid/stream/joinable.hpp>
#include <strid/stream/lookups.hpp>
#include <strid/stream/options.hpp>
#include <strid/stream/outlet.hpp>
#include <strid/stream/share.hpp>
#include <strid/stream/stream_types.hpp>
#include <strid/stream/timeable.hpp>
#include <strid/window/result.hpp>

namespace strid {

namespace graph {
struct SharedWork;
}  // namespace graph

/// The records that leave the last operator so far. Each function consumes the handle, which is
/// moved, and returns the next. Errors of wiring do not compile; what is known only when the
/// program runs throws GraphError. Threads: as Graph.
template <class T, class Head, class... Operators, class Time>
class Stream<T, graph::Chain<Head, Operators...>, Time>
    : graph::ConsumedOnce,
      public graph::Joinable<Stream<T, graph::Chain<Head, Operators...>, Time>>,
      public graph::LooksUp<Stream<T, graph::Chain<Head, Operators...>, Time>, T, Time>,
      public graph::Timeable<Stream<T, graph::Chain<Head, Operators...>, Time>, T, Time> {
    using Chain = graph::Chain<Head, Operators...>;
    using Once = graph::ConsumedOnce;
    using Joins = graph::Joinable<Stream>;
    using LooksUp = graph::LooksUp<Stream, T, Time>;
    using Times = graph::Timeable<Stream, T, Time>;
    static constexpr bool fuses = Head::operators + sizeof...(Operators) > 0;

  public:
    using Once::event_time, Times::event_time;
    /// `join` and `as_of`, as graph::Joinable has them.
    using Once::join, Joins::join, Once::as_of, Joins::as_of;
    using Once::key_by, Once::window, Once::split, Once::split_by_type, Once::merge;
    /// `lookup`, as graph::LooksUp has it.
    using Once::lookup, LooksUp::lookup;
    using Once::map, Once::filter, Once::flat_map, Once::sink;
    /// The type of the records that the next operator receives.
    using record_type = T;
    /// The function that says when a record happened, or a NoTime.
    using time_type = Time;
    /// The type to store or pass it as.
    using Stored = StreamTimedBy<T, Time>;

    /// Made by Graph and by other streams.
    Stream(graph::Handle handle, Chain chain, Time time = {})
        : handle_(std::move(handle)), chain_(std::move(chain)), time_(std::move(time)) {}
    Stream(Stream&&) noexcept = default;
    Stream& operator=(Stream&&) noexcept = default;

    /// Adds an operator (operator/contract.hpp): one that takes records of `T`, or a function that
    /// makes one, `maker(Arriving<T>)`. Every operator of the library is added here. Returns the
    /// stream of the records that it emits, or nothing for a sink. Throws GraphError if the
    /// operator does not support the options.
    template <class OperatorOrMaker>
    auto apply(OperatorOrMaker one, const OperatorOptions& options = {}) && {
        auto made = operators::operator_of(std::move(one), Arriving<T, Time>{time_});
        return std::move(*this).added(std::move(made), options);
    }
    /// The same for an operator that finds late records, with these as a stream of their own:
    /// `auto [records, late] = std::move(stream).apply(k_slack(time_of), late_apart)`.
    template <class OperatorOrMaker>
    auto apply(OperatorOrMaker one, LateApart, const OperatorOptions& options = {}) && {
        auto made = operators::operator_of(std::move(one), Arriving<T, Time>{time_});
        return std::move(*this).template added_with_late<T>(std::move(made), options);
    }

    /// One record for each record. `f` changes it in place (`void f(T&)`) or makes a new one (`U
    /// f(const T&)` or `U f(T&&)`); an optional last argument is a `const Context&`. Each replica
    /// has its own copy of `f`. A function that could have no effect does not compile.
    template <class F>
    auto map(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_map<F, T>()) {
            using Map = operators::Map<T, F, operators::Plain<F>>;
            return std::move(*this).then(Map{operators::Plain<F>{std::move(f)}}, options);
        }
    }

    /// Keeps the records for which `bool f(const T&)` is true.
    template <class F>
    auto filter(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_filter<F, T>()) {
            using Filter = operators::Filter<T, F, operators::Plain<F>>;
            return std::move(*this).then(Filter{operators::Plain<F>{std::move(f)}}, options);
        }
    }

    /// Any number of `U` for each record: `void f(const T&, auto& emit)`, which calls `emit(U)`.
    template <class U, class F>
    auto flat_map(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_flat_map<F, T, U>()) {
            using FlatMap = operators::FlatMap<T, U, F, operators::Plain<F>>;
            return std::move(*this).then(FlatMap{operators::Plain<F>{std::move(f)}}, options);
        }
    }

    /// One record of type `U` for each record, by a function of several at once, whose loop the
    /// compiler can vectorise: `void f(std::span<const T> records, std::span<U> results)`. Both
    /// have the same size; a result has an arbitrary value before, and may be one that was moved
    /// from. An exception ends the run. operator/batches.hpp says how many come at once.
    template <class U, class F>
    auto map_batch(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_map_batch<F, T, U>()) {
            return std::move(*this).then(operators::BatchMap<T, U, F>{std::move(f)}, options);
        }
    }

    /// Keeps the records that a function of several at once chooses: `void f(std::span<const T>
    /// records, std::span<bool> keep)`, all false before. An exception ends the run.
    template <class F>
    auto filter_batch(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_filter_batch<F, T>()) {
            return std::move(*this).then(operators::BatchFilter<T, F>{std::move(f)}, options);
        }
    }

    /// One record for each record, by a function that takes long because it waits: `U f(const T&)`,
    /// or `U f(const T&, std::stop_token)`. Up to `calls.in_flight` calls are made at a time, on
    /// threads of their own, so that `f` may block and is called by several threads at the same
    /// time. operator/call.hpp says the rest: order, time limits, attempts and what a failed call
    /// means. Has one replica unless the options ask for more. Throws GraphError.
    template <class F>
    auto call(F f, const CallOptions& calls = {}, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_call<F, T>()) {
            using Call = operators::Call<T, F, Time>;
            return std::move(*this).then(Call{std::move(f), time_, calls}, options);
        }
    }

    /// Ends the stream with `void f(const T&)`. `f` may have traits with hooks for Opened, Flush
    /// (no more records wait) and Closed, and with `files()` (operator/contract.hpp). One replica,
    /// which one thread at a time calls, unless `f` has the trait `parallel_by_default` or the
    /// options ask for more: `{.parallelism = n}`.
    template <class F>
    auto sink(F f, const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_sink<F, T>()) {
            std::move(*this).then(operators::Sink<T, F>{std::move(f)}, options);
        }
    }

    /// Ends the stream with a queue that other threads pop from (paper 4). It holds at most
    /// `capacity_records`; a full outlet causes back-pressure. It has one replica.
    [[nodiscard]] Outlet<T> outlet(std::size_t capacity_records = 1024,
                                   const OperatorOptions& options = {}) && {
        check_owns_text<T>();
        auto state = std::make_shared<operators::OutletState<T>>(capacity_records);
        using Sink = operators::Sink<T, operators::OutletSink<T>>;
        std::move(*this).then(Sink{operators::OutletSink<T>{state}}, options);
        return Outlet<T>{std::move(state)};
    }

    /// The same in a run that takes snapshots: each record comes with its epoch, and at least once
    /// (strid/stream/epoch_outlet.hpp). Records have a codec (strid/state/codec.hpp) and a default
    /// constructor. start() throws OperatorError for a run that takes no snapshots, and at a second
    /// run.
    [[nodiscard]] auto epoch_outlet(EpochOutletOptions epochs = {},
                                    const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_epochs<T>()) {
            auto queue = std::make_shared<operators::EpochQueue<T>>(epochs);
            using Sink = operators::Sink<T, operators::EpochOutletSink<T>>;
            std::move(*this).then(Sink{operators::EpochOutletSink<T>{queue}}, options);
            return EpochOutlet<T>{std::move(queue)};
        }
    }

    /// A loop: the records go through the pattern `body`, whose last nodes send a record through it
    /// once more (`emit.again`) or emit it. The loop ends when the stream has ended and no record
    /// is in the loop. Declared here, defined in strid/stream/iterate.hpp.
    template <class Body>
    auto iterate(Body body, const OperatorOptions& options = {}) &&;

    /// Applies a function that adds a part of a graph: returns `f(stream)`.
    template <class F>
    decltype(auto) through(F&& f) && {
        return std::invoke(std::forward<F>(f), std::move(*this));
    }

    /// Partitions the stream: all records with the same key go to the same replica of the next
    /// operator, which holds one state per key. `key_of` is a function of a record. base/hash.hpp
    /// says which types may be keys, and how to make your own type one. The state of a key is kept
    /// for the run, or as `life` says (operator/forget_keys.hpp): `key_by(user_of,
    /// forget_after(30min))`.
    template <class KeyOf, KeysLife Life = KeepKeys>
    [[nodiscard]] auto key_by(KeyOf key_of, Life life = {}) && {
        if constexpr (operators::takes_key<KeyOf, T>()) {
            return KeyedStream<T, KeyOf, Stream, Life>{std::move(*this), std::move(key_of), life};
        }
    }

    /// The same with options for an operator before the edge, which calls `key_of` too: its
    /// `on_exception` applies to an exception from `key_of`.
    template <class KeyOf, KeysLife Life = KeepKeys>
    [[nodiscard]] auto key_by(KeyOf key_of, const OperatorOptions& options, Life life = {}) && {
        if constexpr (operators::takes_key<KeyOf, T>()) {
            return std::move(*this)
                .then(operators::KeyCheck<T, KeyOf>{key_of}, options)
                .key_by(std::move(key_of), life);
        }
    }

    /// The same for a member, `key_by<&Reading::device>()`: the faster way (base/field.hpp).
    template <auto Member, KeysLife Life = KeepKeys>
        requires std::is_member_pointer_v<decltype(Member)>
    [[nodiscard]] auto key_by(Life life = {}) && {
        return std::move(*this).key_by(field<Member>, life);
    }

    /// Windows over the whole stream, as one group: as KeyedStream::window, with their work shared
    /// in the way that suits the function (engine/plan/window_table.hpp) or that the call gives
    /// (`share::farmed`). The call may also give `late_apart`.
    template <class Windows, class A>
    auto window(Windows windows, A aggregate, WindowOptions options = {}) && {
        return std::move(*this).window(std::move(windows), std::move(aggregate), share::automatic,
                                       std::move(options));
    }
    /// The same, with the way in which replicas share the work (stream/share.hpp).
    template <class Windows, class A, WindowWay Way>
    auto window(Windows windows, A aggregate, Way way, WindowOptions options = {}) && {
        return std::move(*this)
            .key_by(InOneGroup{})
            .window(std::move(windows), std::move(aggregate), graph::way_of<Share::automatic>(way),
                    std::move(options));
    }

    /// Spreads the records over the replicas of the next operator, batch by batch, to the replica
    /// with the shortest queue. A batch is work for about two milliseconds at most, or one record:
    /// the replicas measure what their records take. Ends the order of the stream (see `ordered`).
    [[nodiscard]] Stored rebalance() && { return boundary(graph::Routing::rebalance); }
    /// Sends every record to every replica of the next operator. The batches are shared, not
    /// copied.
    [[nodiscard]] Stored broadcast() && { return boundary(graph::Routing::broadcast); }
    /// Ends the fusion here: later operators form a segment of their own, which gets records by the
    /// batch.
    [[nodiscard]] Stored separate() && { return boundary(graph::Routing::forward); }
    /// Puts the records back into the order that they had before the parallel section that ends
    /// here. The section begins behind the last operator with one replica that a `rebalance`
    /// follows. All parallel operators in it must have the same parallelism. The next operator has
    /// one replica.
    [[nodiscard]] Stored ordered() && {
        Stored stream = boundary(graph::Routing::forward);
        stream.handle_.restores_order = true;
        return stream;
    }
    /// Any stream can be stored and passed as a `TimedStream<T, &T::time>` with its time function,
    /// or as a plain `Stream<T>`, which has a time only if its records have a natural one.
    operator Stored() &&  // NOLINT: implicit by intent
            requires(fuses)
    {
        return boundary(graph::Routing::forward);
    }
    /// The stream without its time function, as it is stored and passed. Ends the fusion.
    operator Stream<T>() &&  // NOLINT: implicit by intent
        requires(!std::same_as<Time, operators::NaturalTime<T>>) {
            if constexpr (fuses) {
                return boundary(graph::Routing::forward).carrying(operators::NaturalTime<T>{});
            } else {
                return std::move(*this).carrying(operators::NaturalTime<T>{});
            }
        }

        /// Sends each record to the branch that `choose(const T&)` names, or to the branches where
        /// it gives a range of indices (several or all: the record is copied).
        template <class Choose>
        [[nodiscard]] auto split(std::size_t branches, Choose choose) && {
        if constexpr (operators::takes_split<Choose, T>()) {
            if (branches == 0) throw GraphError("split into 0 branches");
            operators::SplitRouter<T, Choose> router{std::move(choose), handle_.behind("split")};
            Time time = time_;
            return Branches<T, Time>{
                std::move(*this).routed(std::move(router), graph::Routing::split, branches),
                branches, std::move(time)};
        }
    }

    /// A stream of std::variant as a tuple of streams, one for each of its types, in their order:
    /// `auto [trades, quotes] = std::move(stream).split_by_type()`. Each has its records in the
    /// order of this stream, moved out of the variants, and the watermarks of this stream; give
    /// their time function with `timed_by`. All streams must be consumed. The options are for the
    /// operators that take the records out of the variants, named `name`-`type`.
    [[nodiscard]] auto split_by_type(const OperatorOptions& options = {}) && {
        if constexpr (operators::takes_split_by_type<T>()) {
            return graph::streams_by_type(std::move(*this), options);
        }
    }

    /// The same records as `count` streams: `auto [all, sample] = std::move(stream).tee<2>()`. Each
    /// has a copy of every record, in the same order; the slowest one causes back-pressure for the
    /// others.
    template <std::size_t count>
    [[nodiscard]] std::array<Stored, count> tee() && {
        static_assert(std::copy_constructible<T>, "tee copies records: these cannot be copied");
        return std::move(*this).split(count, graph::EveryBranch<count>{}).template all<count>();
    }

    /// Joins streams of the same type into one, in no particular order between them.
    template <class... Others>
        requires(std::same_as<typename Others::record_type, T> && ...)
    [[nodiscard]] auto merge(Others&&... others) && {
        static_assert((!std::is_lvalue_reference_v<Others> && ...),
                      "merge consumes the streams it is given: pass them with std::move");
        if constexpr (operators::agree_on_time<Time, TimeOf<Others>...>()) {
            (operators::check_same_time(time_, others.time()), ...);
            auto merged = std::move(*this).separate();
            (merged.handle_.join(std::forward<Others>(others).separate().handle_), ...);
            if constexpr ((std::same_as<Time, TimeOf<Others>> && ...)) {
                return merged;
            } else {
                return std::move(merged).carrying(NoTime{});
            }
        }
    }

    /// The same stream with this time, which is not checked. For operators of the library.
    template <class TimeOf>
    [[nodiscard]] Stream<T, Chain, TimeOf> carrying(TimeOf time_of) && {
        return {std::move(handle_), std::move(chain_), std::move(time_of)};
    }
    /// The function that says when a record happened, or a NoTime.
    [[nodiscard]] const Time& time() const noexcept { return time_; }

  private:
    template <class, class, class>
    friend class Stream;
    template <class, class, class, class>
    friend class KeyedStream;
    template <class, class, class>
    friend class graph::KeyedWindows;
    friend struct graph::SharedWork;
    template <class, class, class>
    friend class graph::Timeable;

    /// The operator is the next; where it draws the watermark, the stream gets its time function.
    template <class Operator>
    auto added(Operator one, const OperatorOptions& options) && {
        if constexpr (!std::same_as<Operator, operators::Refused>) {
            constexpr std::string_view kind = operators::kind_of<Operator>();
            if constexpr (operators::gives_time<Operator>) {
                if constexpr (operators::is_operator_for<Operator, T>()) {
                    auto time_of = one.draws_from();
                    return std::move(*this)
                        .then(std::move(one), options, kind)
                        .carrying(std::move(time_of));
                }
            } else {
                return std::move(*this).then(std::move(one), options, kind);
            }
        }
    }
    template <class Late, class Operator>
    auto added_with_late(Operator one, const OperatorOptions& options) && {
        if constexpr (operators::finds_late_for_apart<Operator, T>()) {
            constexpr std::string_view kind = operators::kind_of<Operator>();
            using Behind = operators::TimeBehind<typename Operator::Emitted, T, Time>;
            const auto streams = [&](auto records_time, auto late_time) {
                return graph::records_and_late<Late>(
                    std::move(*this).then(graph::with_late<Late>(std::move(one)), options, kind),
                    options.name, std::move(records_time), std::move(late_time));
            };
            if constexpr (operators::gives_time<Operator>) {
                const auto time_of = one.draws_from();
                return streams(time_of, time_of);
            } else if constexpr (std::same_as<Behind, Time>) {
                const Time time = time_;
                return streams(time, time);
            } else {
                return streams(Behind{}, Time{time_});
            }
        }
    }

    /// The operator is the next. `kind`: what it is called in reports; `notes`: why it is as it is,
    /// for explain().
    template <class Operator, class... Notes>
    auto then(Operator one, const OperatorOptions& options, std::string_view kind,
              Notes... notes) && {
        return std::move(*this).described(std::move(one), handle_.describe(options, kind),
                                          notes...);
    }
    template <class Operator>
    auto then(Operator one, const OperatorOptions& options) && {
        return std::move(*this).then(std::move(one), options, Operator::traits.kind);
    }
    template <class Operator, class... Notes>
    auto described(Operator one, graph::OperatorInfo info, Notes... notes) && {
        if constexpr (!operators::is_operator_for<Operator, T>()) {
            return;
        } else if constexpr (operators::begins_node<Operator> && fuses) {
            return std::move(*this).separate().described(std::move(one), std::move(info), notes...);
        } else {
            graph::declare(info, one);
            (info.add_note(notes), ...);
            auto handle = std::move(handle_);
            graph::agree_on_time(one, handle);
            using Next = graph::Chain<Head, Operators..., Operator>;
            Next next{std::move(chain_.head),
                      std::move(chain_.operators).followed_by(std::move(one))};
            if constexpr (Operator::traits.emits == Emits::nothing) {
                handle.operators.push_back(std::move(info));
                graph::complete(std::move(handle), std::move(next), operators::NoRouter{},
                                graph::Routing::none, 0);
            } else {
                handle.add(std::move(info));
                using Behind = operators::TimeBehind<typename Operator::Emitted, T, Time>;
                if constexpr (std::same_as<Behind, Time>) {
                    return Stream<typename Operator::Emitted, Next, Time>{
                        std::move(handle), std::move(next), std::move(time_)};
                } else {
                    return Stream<typename Operator::Emitted, Next, Behind>{std::move(handle),
                                                                            std::move(next)};
                }
            }
        }
    }

    Stored boundary(graph::Routing routing) {
        Time time = time_;
        return {std::move(*this).routed(operators::SingleSlotRouter<T>{}, routing),
                {},
                std::move(time)};
    }
    /// Ends the segment with an edge: the handle of what comes out of it.
    template <class Router>
    graph::Handle routed(Router router, graph::Routing routing, std::size_t branches = 1) && {
        graph::Handle next = handle_.behind_edge();
        next.origins = {{graph::complete(std::move(handle_), std::move(chain_), std::move(router),
                                         routing, branches),
                         0}};
        return next;
    }

    template <class Other>
    using TimeOf = typename std::remove_cvref_t<Other>::time_type;

    graph::Handle handle_;
    Chain chain_;
    [[no_unique_address]] Time time_;
};

}  // namespace strid
