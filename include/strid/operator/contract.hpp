// SPDX-License-Identifier: Apache-2.0
//
// The operator contract: what the engine requires of an operator, and which events it sends. An
// operator is a class; `Stream::apply` adds it to a graph, which copies it for each replica.
//
//     class EverySecond : public OperatorTypes<int, int> {
//       public:
//         static constexpr OperatorTraits traits{.emits = Emits::at_most_one};
//         void process(int& record, auto& emit) {
//             if (++count_ % 2 == 0) emit(record);
//         }
//         auto state() { return std::tie(count_); }
//
//       private:
//         std::uint64_t count_ = 0;
//     };
//     std::move(numbers).apply(EverySecond{})
//
// Types. The base class OperatorTypes<Arrived, Emitted> names the types of the records that arrive
// and that are emitted. Behind `key_by` a `message::Hashed<T>` arrives, the record with the hash of
// its key.
//
// Traits. `static constexpr OperatorTraits traits` has the properties that are known at compile
// time; `OperatorFacts facts() const`, optional, those that depend on how the operator was made.
// The planner reads these two and nothing else.
//
// Hooks. `void process(Arrived&, auto& emit)` is the one hook by name (`const Arrived&` if the
// traits have `only_reads`). All others are `on(Event)` or `on(Event, auto& emit)`, one overload
// for each event below that the operator handles. They declare their result type.
//
//     void on(const TasksWanted&)        the run is laid out: add tasks that work on the records
//     void on(const Opened&)             before the first record
//     void on(const BatchBegins&)        before the records of a batch
//     std::size_t on(Coming<Arrived>)    before some records: prefetch the data that they need
//     void|bool on(Watermark, emit)      the input has this watermark
//     Progress on(Clock)                 returns the watermark, if the operator draws watermarks
//     void on(BatchEnds)                 behind the records of a batch, or of a poll of a source
//     void on(SourceProgress)                the source has this watermark, between two records
//     void on(Flush)                     no batch waits in the input
//     void|bool on(Ended, emit)          the input has ended
//     void on(Closed)                    all records are emitted
//     void on(CutOff)                    in a sink: the run ends before the stream; any thread
//
// A hook that emits many records must return false if `emit.room()` does before all are out. It is
// called again with the same event, and must continue from there.
//
// Emitting. `emit(record)` passes a record on; it may be moved from. `emit.late(record)` reports a
// late record: it is counted, and goes to the late stream if the graph has one.
// `emit.assert_progress(progress)`, in an operator that draws watermarks: the next record is late
// with respect to this watermark.
//
// State. `auto state()` returns a std::tie of the members that hold state, if the operator keeps
// anything from record to record: tables by key (operator/keyed_state.hpp), buffers, plain values.
// The engine reports their size.
//
// An operator that breaks one of these rules does not compile; the error is a sentence.
//
// Threads: a replica is used by one thread at a time, except for on(CutOff). Papers: 2, section 4
// (operators as sequential building blocks).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/file_use.hpp>
#include <strid/base/time.hpp>
#include <strid/message/batch.hpp>
#include <strid/message/watermark.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/stream_time.hpp>
#include <strid/runtime/task.hpp>

namespace strid {

/// How many records an operator emits for one that arrives.
enum class Emits : std::uint8_t {
    one,          ///< One record, in `process`; the engine counts none of them.
    at_most_one,  ///< One or none, in `process`.
    any_number,   ///< Any number, in `process` or in other hooks.
    nothing       ///< It is a sink.
};

/// How an operator uses watermarks.
enum class Watermarks : std::uint8_t {
    ignored,  ///< It has no hook for them; they pass through.
    heard,    ///< on(Watermark, emit), if the stream has time.
    needed,   ///< on(Watermark, emit). A GraphError if a stream that leads to it has no time.
    delayed,  ///< on(Watermark, emit); passed() returns the watermark of the stream behind it.
    drawn,    ///< Progress on(Clock): behind it the stream has time.
    relayed   ///< on(SourceProgress): behind it the stream has the time of its source.
};

/// The properties of an operator that are known at compile time.
struct OperatorTraits {
    /// Used in reports and in `explain()`, where an operator that emits nothing is a "sink"; the
    /// default name is made of it.
    std::string_view kind = "apply";
    Emits emits = Emits::one;                     ///< How many records it makes of one.
    Watermarks watermarks = Watermarks::ignored;  ///< How it uses watermarks.
    /// `process` takes a constant: a batch with several readers is not copied.
    bool only_reads = false;
    /// The emitted records are records that arrived: their event times are known.
    bool passes_records = false;
    /// Emitted records do not refer to texts of the records that arrived.
    bool forgets_input = false;
    /// It remains valid after the user's function has thrown in `process`: OnException::skip.
    bool may_skip = false;
    bool looks_ahead = false;     ///< std::size_t on(Coming<Arrived>)
    bool asks_the_clock = false;  ///< on(Watermark, emit) comes in every run, and at wake_at_ns().
    bool holds_back = false;      ///< `bool held_back() const`: begin no record for a while.
    bool finds_late = false;      ///< It calls emit.late().
    /// on(TasksWanted): it adds tasks that the run steps beside the replica's task. They notify
    /// that task when they have results or room. The operator is the first of its node. No record
    /// is begun while `held_back()`, nor after a stop, and its on(Ended) may wait for the tasks.
    bool brings_tasks = false;
    /// It needs the whole stream: more than one replica is a GraphError.
    bool one_replica = false;
};

/// The properties of an operator that depend on how it was made.
struct OperatorFacts {
    bool one_replica = false;  ///< As in the traits.
    /// False: copies would share data that they must not. It then has one replica unless more are
    /// requested.
    bool parallel_by_default = true;
    /// Its replicas share the work on a stream that each of them receives in full.
    bool shares_broadcast = false;
    /// The stream behind it has no time, whatever it had before.
    bool ends_time = false;
    /// A record costs no more here than in a source: the planner leaves a worker to each source.
    bool light = false;
    std::vector<FileUse> files = {};      ///< The files that it reads and writes.
    std::vector<std::string> notes = {};  ///< Reasons, for `explain()`.
};

/// The base of an operator: the type of the records that arrive, and of those it emits (`void`:
/// none).
template <class In, class Out>
struct OperatorTypes {
    /// The type of a record that arrives.
    using Arrived = In;
    /// The type of a record that is emitted; void: nothing.
    using Emitted = Out;
};

// ---- events ------------------------------------------------------------------------------------

/// Once, before all other events. The run steps the tasks that are added to `tasks` as it does
/// `task`, the replica's own, and ends them before the operator is destroyed.
struct TasksWanted {
    const Context& context;              ///< Of the replica.
    runtime::Task& task;                 ///< The replica's own, which the run steps in any case.
    std::size_t workers;                 ///< Threads of the run.
    bool perturbed;                      ///< Queues must be as short as possible.
    std::vector<runtime::Task*>& tasks;  ///< To be added to; they live until on(Closed) at least.
};
/// Before the first record. `task` is the replica's: outside threads notify it.
struct Opened {
    const Context& context;  ///< Of the replica.
    runtime::Task& task;     ///< Its notify() may be called by any thread until on(Closed).
};
/// Before the records of a batch. `watermark` is the sender's watermark before it: a record below
/// it is late.
struct BatchBegins {
    EventTime watermark;  ///< No record with an earlier event time follows, except late ones.
    std::size_t input;    ///< The index of the sender's input.
};
/// Behind the last record of a batch, or of one poll of a source in the same node: data that was
/// kept for the batch may be freed.
struct BatchEnds {};
/// Before the first of these records, which are all in one batch. Returns how many of them it has
/// examined, one at least: it is called again before the next.
template <class Arrived>
struct Coming {
    std::span<const Arrived> records;  ///< In the order in which they will arrive.
};
/// No record with an event time before `time` follows, except late ones.
struct Watermark {
    EventTime time;     ///< Event time.
    bool idle = false;  ///< The input has no watermark for now.
};
/// A run has begun or is over. Returns the watermark of the stream.
struct Clock {
    std::int64_t now_ns;  ///< The machine's monotonic clock.
};
/// A source has reported its watermark, between two records.
struct SourceProgress {
    Progress progress;  ///< The source's watermark, or idle.
};
/// The input is empty for now: records held back for larger batches must be sent.
struct Flush {};
/// The input has ended. The operator emits all that it still holds.
struct Ended {};
/// All is emitted; nothing follows.
struct Closed {};
/// Of a sink: the run ends before the stream, so that waiting must end. Any thread.
struct CutOff {};

// ---- descriptions for makers --------------------------------------------------------------------

/// The records that arrive, for a function that makes an operator: `apply(maker)` calls
/// `maker(arriving)`. `time_of` gives the event time of a record, unless it is a NoTime.
template <class T, class TimeOf = NoTime>
struct Arriving {
    /// The type of a record.
    using record = T;
    /// The type of an arriving record.
    using arrived = T;
    [[no_unique_address]] TimeOf time_of;  ///< When a record happened, unless it is a NoTime.
};
/// The same behind `key_by`.
template <class T, class KeyOf, class TimeOf = NoTime>
struct ArrivingByKey {
    /// The type of a record.
    using record = T;
    /// The type of an arriving record.
    using arrived = message::Hashed<T>;
    /// The type of the key, by value.
    using key = std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>;
    KeyOf key_of;                          ///< The key function that `key_by` was given.
    [[no_unique_address]] TimeOf time_of;  ///< When a record happened, unless it is a NoTime.
};

// ---- used by the engine -------------------------------------------------------------------------

namespace operators {

/// Stands for the emitter of a chain when a concept checks a hook.
struct EmitterProbe {
    template <class Record>
    void operator()(Record&& record) const;
    [[nodiscard]] bool room() const;
    void assert_progress(const Progress& progress) const;
    template <std::size_t side = 0, class Record>
    void late(const Record& record, std::uint64_t count = 1) const;
};

/// It has the hook on(Event).
template <class Operator, class Event>
concept Hears = requires(Operator& one, const Event& event) { one.on(event); };
/// It has the hook on(Event, emit).
template <class Operator, class Event>
concept Answers =
    requires(Operator& one, const Event& event, EmitterProbe& emit) { one.on(event, emit); };

/// It emits any number of records for one, so that they are counted.
template <class Operator>
inline constexpr bool is_selective =
    Operator::traits.emits == Emits::at_most_one || Operator::traits.emits == Emits::any_number;
/// It may make several records of one.
template <class Operator>
inline constexpr bool fans_out = Operator::traits.emits == Emits::any_number;
/// It gives the stream a watermark, whatever that of its input is.
template <class Operator>
inline constexpr bool draws_watermarks = Operator::traits.watermarks == Watermarks::drawn;

/// A table by key, as the engine uses it.
template <class State>
concept StateByKey = requires(const State& state) {
    { state.keys() } -> std::convertible_to<std::size_t>;
    { state.bytes() } -> std::convertible_to<std::size_t>;
};
/// A state that holds records or results back: it has bytes(), or is a vector.
template <class State>
concept StateInBuffer =
    !StateByKey<State> &&
    (
        requires(const State& state) {
            { state.bytes() } -> std::convertible_to<std::size_t>;
        } ||
        requires(const State& state) { state.capacity() * sizeof(typename State::value_type); });

/// The size of an operator's state.
struct StateSize {
    std::uint64_t keys = 0;
    std::uint64_t bytes = 0;
};

/// Calls `visit` with each of the operator's states.
template <class Operator, class Visit>
void for_each_state(Operator& one, Visit&& visit) {
    if constexpr (requires { one.state(); }) {
        // Not std::apply, whose exception specification takes long to compile.
        auto states = one.state();
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (visit(std::get<I>(states)), ...);
        }(std::make_index_sequence<std::tuple_size_v<decltype(states)>>{});
    } else {
        (void)one;
        (void)visit;
    }
}

/// Whether the engine can report a size of its states.
template <class Operator>
inline constexpr bool has_sized_state = [] {
    if constexpr (requires(Operator& one) { one.state(); }) {
        return []<class... States>(std::type_identity<std::tuple<States...>>) {
            return ((StateByKey<std::remove_reference_t<States>> ||
                     StateInBuffer<std::remove_reference_t<States>>) ||
                    ...);
        }(std::type_identity<decltype(std::declval<Operator&>().state())>{});
    }
    return false;
}();

/// O(states): each state counts its size.
template <class Operator>
[[nodiscard]] StateSize state_size(Operator& one) {
    StateSize size;
    for_each_state(one, [&size]<class State>(State& state) {
        if constexpr (StateByKey<State>) size.keys += state.keys();
        if constexpr (requires { state.bytes(); }) {
            size.bytes += state.bytes();
        } else if constexpr (StateInBuffer<State>) {
            size.bytes += state.capacity() * sizeof(typename State::value_type);
        }
    });
    return size;
}

}  // namespace operators
}  // namespace strid
