// SPDX-License-Identifier: Apache-2.0
//
// The contract: the members by which the engine knows an operator, a source or a function, and the
// events that it sends. An operator is a class; `Stream::apply` adds it to a graph, which copies it
// for each replica.
//
//     class EverySecond : public OperatorTypes<int, int> {
//       public:
//         static constexpr OperatorTraits traits{.emits = Emits::at_most_one, .hears = events<>};
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
// its key. A source names its `record_type`, and has `poll` (operator/source.hpp).
//
// Traits. `static constexpr OperatorTraits traits` (SourceTraits, FunctionTraits) has the
// properties that are known at compile time. Two of them declare what the class has for the engine:
// `.hears` lists its hooks, and has no default; `.has` lists the other members that the engine
// calls by name. A member that is listed and missing, private or of another signature does not
// compile, nor does one that is there and not listed. A class that lists nothing and has a member
// of a misspelt name cannot be recognised in C++20.
//
// Hooks. `void process(Arrived&, auto& emit)` (`const Arrived&` if the traits have `only_reads`) is
// there in each operator. All others are `on(Event)` or `on(Event, auto& emit)`, one overload for
// each event below that the class handles. They declare their result type. O: an operator has it,
// S: a source, F: a sink or another function.
//
//     void on(const TasksWanted&)      OS   the run is laid out: add tasks that work on the records
//     void on(const Opened&)           OSF  before the first record
//     void on(Restored)                OSF  state() was put in from elsewhere
//     void on(const BatchBegins&)      O    before the records of a batch
//     std::size_t on(Coming<Arrived>)  O    before some records: prefetch the data that they need
//     void|bool on(Watermark, emit)    O    the input has this watermark
//     Progress on(Clock)               O    returns the watermark of the stream behind it
//     void on(SnapshotBegins)          OSF  the records so far are those of a snapshot
//     void on(BatchEnds)               O    behind the records of a batch, or of a poll of a source
//     void on(SourceProgress)          O    the source has this watermark, between two records
//     void on(Flush)                   OF   no batch waits in the input
//     void|bool on(Ended, emit)        O    the input has ended; on(Clock) follows once more
//     void on(Closed)                  OSF  all records are emitted
//     void on(CutOff)                  OF   in a sink: the run ends before the stream; any thread
//     void on(Stopped) noexcept        S    the run is stopped, cancelled or has failed; any thread
//
// A hook of many records returns false when `emit.room()` does, and goes on in its next call.
//
// Other members by name, in `.has` (`state()` and the last three need no entry):
//
//     OperatorFacts facts() const      O    properties that depend on how it was made
//     std::int64_t wake_at_ns() const  OS   when it needs a call without input; 0: never
//     bool held_back() const           O    begin no record for a while
//     Progress passed() const          O    the watermark of the stream behind it
//     auto& time_of()                  O    the time function that it relies on (agreed_time.hpp)
//     const auto& draws_from() const   O    the time function of the watermarks that it draws
//     auto& resource()                 O    memory that its node lends it (pattern/resource.hpp)
//     bool blocks() const              OSF  it may wait in the operating system: own thread
//     bool accepts()                   OF   of a sink: it takes one more record now
//     files() const                    SF   a range of FileUse: what it reads and writes
//     double fraction_done() const     S    0 to 1; negative: unknown; any thread
//     std::uint64_t bytes_read() const S    in all up to now; any thread
//     std::size_t replicas_used(n)     S    how many of n replicas emit records
//     void keep_all_text()             S    its texts are kept for the run: called before it opens
//     bool is_journalled() const       S    it blocks, never long, and can go on behind a snapshot
//     void merge_state(const Mine& other), void split_state(StateShare)  OF  base/state_share.hpp
//     const ColdStores& cold_stores()  O    where snapshots have a part of its state as checkpoints
//
// A function that takes Timers has `void on_timer(time, Timers&, auto& emit)`, or sets none.
// Emitting. `emit(record)` passes a record on; it may be moved from. `emit.late(record)` reports a
// late record: it is counted, and goes to the late stream if the graph has one.
// `emit.assert_progress(progress)`, in an operator that draws watermarks: the next record is late
// with respect to it. `emit.failed()`, in a handler of an exception outside `process`
// and with the trait .may_skip: the function threw on one record; the options of the operator hold.
//
// State. `auto state()` returns a std::tie of the members that decide what is emitted later: tables
// by key (operator/keyed_state.hpp), buffers, watermarks, plain values. A class with members has
// it, or says `.stateless` if they are its configuration. The engine reports their size.
// The state is complete between two events: put into a fresh object that was made with the same
// arguments and opened, and that gets on(Restored), it makes the object emit what the first would
// have (strid::test::Harness::restore). Heaps, wheels and lists that point to entries of a table
// are no state: on(Restored) makes them, in the same order, by numbers in the entries.
// Threads: one at a time for a replica, except where "any thread" is said. Paper 2, section 4.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/file_use.hpp>
#include <strid/base/time.hpp>
#include <strid/base/watermark.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/stream_time.hpp>
#include <strid/runtime/task.hpp>

namespace strid {

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
/// Before the first record, by the thread that starts the run, for one replica after the other.
/// `task` is the replica's: outside threads notify it.
struct Opened {
    const Context& context;     ///< Of the replica.
    runtime::Task& task;        ///< Its notify() may be called by any thread until on(Closed).
    std::stop_token stop = {};  ///< A hook that takes long returns when it requests a stop.
};
/// Behind Opened, before the first record: the state that state() names has been put in.
struct Restored {};
/// Before the records of a batch. `watermark` is the sender's watermark before it: a record below
/// it is late.
struct BatchBegins {
    EventTime watermark;  ///< No record with an earlier event time follows, except late ones.
    std::size_t input;    ///< The index of the sender's input.
};
/// The records so far are those of a snapshot: the state is saved once all operators of the node
/// have returned. A sink hands on what it holds back.
struct SnapshotBegins {
    std::uint64_t number;  ///< Of the snapshot, from 1 on.
};
/// Behind the last record of a batch, or of one poll of a source in the same node.
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
    /// Up to when it is known that no record waited. Earlier than now where the source of the node
    /// has not looked since, or has records that it cannot emit yet.
    std::int64_t silent_until_ns = now_ns;
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
/// Of a source, once: the run is stopped, cancelled or has failed, so that a poll that blocks must
/// return. It is sent by the thread that ends the run, at the same time as `poll()`; also from
/// inside a poll, if an operator behind the source in the same task ends the run; and maybe after
/// the last poll. The hook signals `poll()` by its own means (an atomic, a pipe), does not wait for
/// it, and neither stops nor cancels the run.
struct Stopped {};

namespace operators {

template <class Event, class... Events>
consteval std::uint32_t bit_among() {
    std::uint32_t found = 0;
    std::uint32_t bit = 1;
    ((found |= std::same_as<Event, Events> ? bit : 0, bit <<= 1U), ...);
    return found;
}
/// The place of an event in an EventSet; 0: it is no event.
template <class Event>
inline constexpr std::uint32_t event_bit =
    bit_among<Event, TasksWanted, Opened, Restored, BatchBegins, Watermark, Clock, BatchEnds,
              SourceProgress, Flush, Ended, Closed, CutOff, Stopped, SnapshotBegins>();
template <class Arrived>
inline constexpr std::uint32_t event_bit<Coming<Arrived>> = 1U << 31U;

}  // namespace operators

/// The events that a class handles. One that was not made by `events` declares nothing.
struct EventSet {
    std::uint32_t bits = 0;       ///< One for each event.
    bool is_declared = false;     ///< It was made by `events`.
    bool is_conditional = false;  ///< A class template has other hooks for other arguments.

    /// Whether the event is one of them.
    template <class Event>
    [[nodiscard]] constexpr bool has() const noexcept {
        return (bits & operators::event_bit<Event>) != 0;
    }
    /// Those of these events that are in the set: what a wrapper of the class handles.
    template <class... Events>
    [[nodiscard]] constexpr EventSet among() const noexcept {
        return {bits & (0U | ... | operators::event_bit<Events>), is_declared, true};
    }
    /// The events of both.
    friend constexpr EventSet operator|(EventSet one, EventSet other) noexcept {
        return {one.bits | other.bits, one.is_declared && other.is_declared,
                one.is_conditional || other.is_conditional};
    }
};

namespace operators {

template <class... Events>
consteval EventSet set_of() {
    static_assert(((event_bit<Events> != 0) && ...),
                  "events<...> lists events of strid/operator/contract.hpp");
    return {(0U | ... | event_bit<Events>), true};
}

}  // namespace operators

/// The set of these events: `events<Opened, Coming<int>, Ended>`; `events<>` is none.
template <class... Events>
inline constexpr EventSet events = operators::set_of<Events...>();
/// The set of these events, of a class template that handles them if `condition`: no hooks
/// otherwise, because of a requires-clause.
template <class... Events>
[[nodiscard]] constexpr EventSet events_if(bool condition) noexcept {
    EventSet set = condition ? events<Events...> : events<>;
    set.is_conditional = true;
    return set;
}

/// The members beside hooks that a class has for the engine; several are joined by `|`.
enum class Has : std::uint32_t {
    none = 0,                   ///< No other.
    facts = 1U << 0U,           ///< `OperatorFacts facts() const`
    wake_at_ns = 1U << 1U,      ///< `std::int64_t wake_at_ns() const`
    held_back = 1U << 2U,       ///< `bool held_back() const`
    passed = 1U << 3U,          ///< `Progress passed() const`
    time_of = 1U << 4U,         ///< `auto& time_of()`
    draws_from = 1U << 5U,      ///< `const auto& draws_from() const`
    resource = 1U << 6U,        ///< `auto& resource()`
    blocks = 1U << 7U,          ///< `bool blocks() const`
    accepts = 1U << 8U,         ///< `bool accepts()`
    files = 1U << 9U,           ///< `files() const`
    fraction_done = 1U << 10U,  ///< `double fraction_done() const`
    bytes_read = 1U << 11U,     ///< `std::uint64_t bytes_read() const`
    replicas_used = 1U << 12U,  ///< `std::size_t replicas_used(std::size_t)`
    keep_all_text = 1U << 13U,  ///< `void keep_all_text()`
    is_journalled = 1U << 14U   ///< `bool is_journalled() const`
};
/// Both.
[[nodiscard]] constexpr Has operator|(Has one, Has other) noexcept {
    return static_cast<Has>(static_cast<std::uint32_t>(one) | static_cast<std::uint32_t>(other));
}
/// Those that are in both.
[[nodiscard]] constexpr Has operator&(Has one, Has other) noexcept {
    return static_cast<Has>(static_cast<std::uint32_t>(one) & static_cast<std::uint32_t>(other));
}
/// These members, of a class template that has them if `condition`: otherwise their requires-clause
/// takes them out.
[[nodiscard]] constexpr Has has_if(bool condition, Has members) noexcept {
    return condition ? members : static_cast<Has>(static_cast<std::uint32_t>(members) << 16U);
}

/// How many records an operator emits for one that arrives.
enum class Emits : std::uint8_t {
    one,          ///< One record, in `process`; the engine counts none of them.
    at_most_one,  ///< One or none, in `process`.
    any_number,   ///< Any number, in `process` or in other hooks.
    nothing       ///< It is a sink.
};

/// The properties of an operator that are known at compile time.
struct OperatorTraits {
    /// Used in reports and in `explain()`, where an operator that emits nothing is a "sink"; the
    /// default name is made of it.
    std::string_view kind = "apply";
    Emits emits = Emits::one;  ///< How many records it makes of one.
    /// Its hooks. With `Clock` it draws watermarks, and with `SourceProgress` it takes those of the
    /// source: behind it the stream has time. With `TasksWanted` it adds tasks that the run steps
    /// beside the replica's task. They notify that task when they have results or room; the
    /// operator is the first of its node; no record is begun while `held_back()`, nor after a stop;
    /// and its on(Ended) may wait for the tasks.
    EventSet hears = {};
    /// Its other members for the engine. With `wake_at_ns` or `TasksWanted`, on(Watermark, emit)
    /// comes in every run. With `passed` the watermark of the stream behind it is its own.
    Has has = Has::none;
    bool needs_watermarks = false;  ///< A GraphError if a stream that leads to it has no time.
    /// `process` takes a constant: a batch with several readers is not copied.
    bool only_reads = false;
    /// The emitted records are records that arrived: their event times are known.
    bool passes_records = false;
    /// Emitted records do not refer to texts of the records that arrived.
    bool forgets_input = false;
    /// It remains valid after the user's function has thrown in `process`: OnException::skip.
    bool may_skip = false;
    bool finds_late = false;  ///< It calls emit.late().
    /// Outside threads make its results, and notify its task when they have some. It is the first
    /// of its node; on(Watermark, emit) comes in every run; no record is begun while `held_back()`;
    /// and its on(Ended) may wait for the threads.
    bool awaits_outside = false;
    bool takes_batches = false;  ///< on(Coming) works on the records: the first of its node.
    bool one_replica = false;    ///< It needs the whole stream: more of them are a GraphError.
    bool no_snapshots = false;   ///< Records are on their way outside of its state.
    bool stateless = false;      ///< Its members are configuration: no `state()`.
};

/// The properties of a source that are known at compile time (operator/source.hpp).
struct SourceTraits {
    EventSet hears = {};  ///< Its hooks. Tasks that it adds end after its on(Closed).
    Has has = Has::none;  ///< Its other members for the engine.
    /// After a stop it is polled until it returns `finished`, to deliver the records that it has
    /// accepted.
    bool drains = false;
    bool awaits_outside = false;  ///< Outside threads make its records, and notify its task.
    bool no_snapshots = false;    ///< It cannot go on behind the records of a snapshot.
    bool stateless = false;       ///< Its members are configuration: no `state()`.
};

/// The properties of a sink, or of another function, that are known at compile time. A function
/// that can be called as a constant, such as a lambda, has no state, and needs no traits if it has
/// no hooks. Any other has traits and `state()`, or is its own state: trivially copyable, without
/// pointers.
struct FunctionTraits {
    EventSet hears = {};               ///< Its hooks.
    Has has = Has::none;               ///< Its other members for the engine.
    bool parallel_by_default = false;  ///< Of a sink: its copies share nothing, or share it safely.
    bool one_replica = false;          ///< Of a sink: more than one replica is a GraphError.
    bool no_snapshots = false;         ///< As in OperatorTraits.
    bool sets_no_timers = false;       ///< It takes Timers, and sets none: it has no `on_timer`.
    bool stateless = false;            ///< Its members are configuration: no `state()`.
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

}  // namespace strid
