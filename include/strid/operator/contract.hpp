// SPDX-License-Identifier: Apache-2.0
//
// The operator contract: what the engine asks of an operator, and what it tells it. An operator is
// a class; `Stream::apply` makes it the next one of a graph, which copies it for each replica.
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
// Types. OperatorTypes<Arrived, Emitted> is its base: what arrives, what is emitted. Behind
// `key_by` a `message::Hashed<T>` arrives, the record with the hash of its key.
//
// Traits. `static constexpr OperatorTraits traits` says what is known when the program is compiled;
// `OperatorFacts facts() const`, optional, what depends on how the operator was made. The planner
// reads these two and nothing else.
//
// Hooks. `void process(Arrived&, auto& emit)` is the one hook by name (`const Arrived&` where the
// traits say `only_reads`). All others are `on(Event)` or `on(Event, auto& emit)`, one overload for
// each event below that the operator wants to hear of; they name their result.
//
//     void on(const TasksWanted&)        the run is laid out: tasks that work on the records
//     void on(const Opened&)             before the first record
//     void on(const BatchBegins&)        before the records of a batch
//     std::size_t on(Coming<Arrived>)    before some records: brings near what they need
//     void|bool on(Watermark, emit)      the input has come so far
//     Progress on(Clock)                 how far the stream has come, by an operator that draws
//     void on(BatchEnds)                 behind the records of a batch, or of a poll of a source
//     void on(SourceSaid)                the source has come so far, between two records
//     void on(Flush)                     nothing more waits in the input
//     void|bool on(Ended, emit)          the input has ended
//     void on(Closed)                    all is emitted
//     void on(CutOff)                    of a sink: the run ends before the stream; any thread
//
// A hook that emits much returns false where `emit.room()` does before all is out: it is called
// again with the same event, and goes on from there.
//
// Emitting. `emit(record)` hands a record on; it may be moved from. `emit.late(record)` says that a
// record is late: it is counted, and leaves by a way of its own where the graph has one.
// `emit.promise(progress)`, of an operator that draws watermarks: the record that comes next breaks
// this promise.
//
// State. `auto state()`, a std::tie of the members that hold it, where the operator keeps anything
// from record to record: tables by key (operator/keyed_state.hpp), buffers, plain values. The
// engine reports how much it is.
//
// An operator that breaks one of these rules does not compile; the error is a sentence.
//
// Threads: a replica is used by one thread at a time, but for on(CutOff). Papers: 2, section 4
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

/// What an operator makes of one record that arrives.
enum class Emits : std::uint8_t {
    one,          ///< One record, in `process`; the engine counts none of them.
    at_most_one,  ///< One or none, in `process`.
    any_number,   ///< Any number, in `process` or in other hooks.
    nothing       ///< It is a sink.
};

/// What an operator has to do with watermarks.
enum class Watermarks : std::uint8_t {
    ignored,  ///< It has no hook for them; they pass it.
    heard,    ///< on(Watermark, emit), where the stream has time.
    needed,   ///< on(Watermark, emit). A GraphError where a stream that leads to it has no time.
    delayed,  ///< on(Watermark, emit); how far the stream behind it has come says passed().
    drawn,    ///< Progress on(Clock): behind it the stream has time.
    relayed   ///< on(SourceSaid): behind it the stream has the time of its source.
};

/// What is known of an operator when the program is compiled.
struct OperatorTraits {
    /// In reports and `explain()`, where an operator that emits nothing is a "sink"; names are made
    /// of it.
    std::string_view kind = "apply";
    Emits emits = Emits::one;                     ///< How many records it makes of one.
    Watermarks watermarks = Watermarks::ignored;  ///< What it has to do with watermarks.
    /// `process` takes a constant: a batch that others read too is not copied.
    bool only_reads = false;
    /// What is emitted are records that arrived: their event times are known.
    bool passes_records = false;
    /// Nothing that is emitted points to texts of the records that arrived.
    bool forgets_input = false;
    /// It goes on well after the user's function has thrown in `process`: OnException::skip.
    bool may_skip = false;
    bool looks_ahead = false;     ///< std::size_t on(Coming<Arrived>)
    bool asks_the_clock = false;  ///< on(Watermark, emit) comes in every run, and at wake_at_ns().
    bool holds_back = false;      ///< `bool held_back() const`: nothing is to be begun for a while.
    bool finds_late = false;      ///< It calls emit.late().
    /// on(TasksWanted): tasks that the run steps beside the replica's own work on the records, and
    /// notify that where they have results or room. The operator is the first of its node; while
    /// `held_back()` no record is begun, after a stop neither, and its on(Ended) may wait for them.
    bool brings_tasks = false;
    /// It has to see the whole stream: more than one replica is a GraphError.
    bool one_replica = false;
};

/// What depends on how an operator was made.
struct OperatorFacts {
    bool one_replica = false;  ///< As in the traits.
    /// False: copies would share what they must not, so that it has one replica unless asked for
    /// more.
    bool parallel_by_default = true;
    /// Its replicas share the work on a stream that each of them has.
    bool shares_broadcast = false;
    /// The stream behind it has no time, whatever it had before.
    bool ends_time = false;
    /// A record costs it no more than it costs a source to make one: a worker is left to each.
    bool light = false;
    std::vector<FileUse> files = {};      ///< That it reads and writes.
    std::vector<std::string> notes = {};  ///< Why it is as it is, for `explain()`.
};

/// The base of an operator: what arrives, and what it emits (`void`: nothing).
template <class In, class Out>
struct OperatorTypes {
    /// The type of a record that arrives.
    using Arrived = In;
    /// The type of a record that is emitted; void: nothing.
    using Emitted = Out;
};

// ---- events ------------------------------------------------------------------------------------

/// Once, before all others. What is added to `tasks` the run steps as it does `task`, the replica's
/// own, and is done with before the operator goes.
struct TasksWanted {
    const Context& context;              ///< Of the replica.
    runtime::Task& task;                 ///< The replica's own, which the run steps in any case.
    std::size_t workers;                 ///< Threads of the run.
    bool perturbed;                      ///< Queues are to be as short as can be.
    std::vector<runtime::Task*>& tasks;  ///< To be added to; they live until on(Closed) at least.
};
/// Before the first record. `task` is the replica's: outside threads wake it.
struct Opened {
    const Context& context;  ///< Of the replica.
    runtime::Task& task;     ///< Its notify() may be called by any thread until on(Closed).
};
/// Before the records of a batch. `promised` is what their sender said before: nothing of what
/// happened before that was to come.
struct BatchBegins {
    EventTime promised;  ///< No record with an earlier event time follows, but late ones.
    std::size_t input;   ///< Which of the inputs the sender is.
};
/// Behind the last record of a batch, or of one poll of a source in the same node: what is held for
/// the length of a batch may go.
struct BatchEnds {};
/// Before the first of these records, which all lie in one batch. Returns how many of them it has
/// looked at, one at least: it is asked again before the next.
template <class Arrived>
struct Coming {
    std::span<const Arrived> records;  ///< In the order in which they will arrive.
};
/// No record with an event time before `time` follows, but late ones.
struct Watermark {
    EventTime time;     ///< Event time.
    bool idle = false;  ///< Nothing is known of the input for the time being.
};
/// A run has begun or is over. Returns how far the stream has come.
struct Clock {
    std::int64_t now_ns;  ///< The machine's monotonic clock.
};
/// A source has said how far its time has come, between two records.
struct SourceSaid {
    Progress progress;  ///< What it said.
};
/// Nothing more waits in the input: what is held back for larger batches is to go on.
struct Flush {};
/// The input has ended. What is still held is emitted now.
struct Ended {};
/// All is emitted; nothing follows.
struct Closed {};
/// Of a sink: the run ends before the stream, so that waiting must end. Any thread.
struct CutOff {};

// ---- what a maker is told ----------------------------------------------------------------------

/// The records that arrive, for a function that makes an operator of them: `apply(maker)` calls
/// `maker(arriving)`. `time_of` says when a record happened, unless it is a NoTime.
template <class T, class TimeOf = NoTime>
struct Arriving {
    /// The type of a record.
    using record = T;
    /// What arrives at the operator.
    using arrived = T;
    [[no_unique_address]] TimeOf time_of;  ///< When a record happened, unless it is a NoTime.
};
/// The same behind `key_by`.
template <class T, class KeyOf, class TimeOf = NoTime>
struct ArrivingByKey {
    /// The type of a record.
    using record = T;
    /// What arrives at the operator.
    using arrived = message::Hashed<T>;
    /// The type of the key, by value.
    using key = std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>;
    KeyOf key_of;                          ///< What `key_by` was given.
    [[no_unique_address]] TimeOf time_of;  ///< When a record happened, unless it is a NoTime.
};

// ---- what the engine asks ----------------------------------------------------------------------

namespace operators {

/// Stands for the emitter of a chain where a hook is asked about.
struct EmitterProbe {
    template <class Record>
    void operator()(Record&& record) const;
    [[nodiscard]] bool room() const;
    void promise(const Progress& progress) const;
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

/// It emits any number of records for one, so that these are counted.
template <class Operator>
inline constexpr bool is_selective =
    Operator::traits.emits == Emits::at_most_one || Operator::traits.emits == Emits::any_number;
/// It may make several records of one.
template <class Operator>
inline constexpr bool fans_out = Operator::traits.emits == Emits::any_number;
/// It says how far the stream has come, whatever its input said.
template <class Operator>
inline constexpr bool draws_watermarks = Operator::traits.watermarks == Watermarks::drawn;

/// A table by key, as the engine sees it.
template <class State>
concept StateByKey = requires(const State& state) {
    { state.keys() } -> std::convertible_to<std::size_t>;
    { state.bytes() } -> std::convertible_to<std::size_t>;
};
/// What holds back records or results: it says its bytes, or is a vector.
template <class State>
concept StateInBuffer =
    !StateByKey<State> &&
    (
        requires(const State& state) {
            { state.bytes() } -> std::convertible_to<std::size_t>;
        } ||
        requires(const State& state) { state.capacity() * sizeof(typename State::value_type); });

/// How much an operator keeps.
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

/// Whether the engine has anything to report of its states.
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

/// O(states): each knows its size.
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
