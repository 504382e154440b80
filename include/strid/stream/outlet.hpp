// SPDX-License-Identifier: Apache-2.0
//
// Inlet and Outlet connect a running graph with other threads of the program: those push records
// into an Inlet and pop records from an Outlet. Together they are the accelerator of paper 4,
// section 1.2.2.
//
// Threads: any number push into an inlet or pop from an outlet. One task is the graph's side, so
// each of the two operators has one replica. Both queues are bounded: a full inlet makes `push`
// wait, and a full outlet causes back-pressure in the graph.
//
// Both end with the run, whatever ends it and whether or not its `Running` is kept. A stop closes
// the inlets; records that were pushed before are drained. A failure or cancel() closes the inlets
// and ends the outlets at once. If a graph is destroyed without a run, no thread waits for it: the
// prototypes in the graph and the replicas of a run share a token, and when the last of them is
// destroyed, `push` returns false and `pop` returns nothing.
//
// Invariant: records leave in the order in which they were pushed. None is lost between `push`
// returning true and the end of a run that was neither cancelled nor failed.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/engine/kernel/output_port.hpp>
#include <strid/operator/source.hpp>
#include <strid/runtime/task.hpp>

namespace strid {

namespace operators {

template <class T>
struct InletState {
    explicit InletState(std::size_t capacity)
        : capacity_records(std::max<std::size_t>(capacity, 1)) {}

    std::mutex mutex;
    std::condition_variable room;
    std::vector<T> waiting;  // guarded by mutex
    std::size_t capacity_records;
    bool closed = false;            // guarded: no more pushes
    bool served = false;            // guarded: it has had its run
    std::uint64_t accepted = 0;     // guarded: that a journal has
    runtime::Task* task = nullptr;  // guarded: the reader, while a run is on

    /// Throws GraphError at a second run.
    void begin_session(runtime::Task& reader) {
        const std::lock_guard lock{mutex};
        if (std::exchange(served, true)) {
            throw GraphError("an inlet serves one run: build the graph anew");
        }
        task = &reader;
    }
    /// Takes all that wait into `taken`, which is empty.
    SourceStatus take(std::vector<T>& taken) {
        const std::lock_guard lock{mutex};
        if (waiting.empty()) return closed ? SourceStatus::finished : SourceStatus::idle;
        taken.swap(waiting);
        room.notify_all();
        return SourceStatus::more;
    }
    void accept(std::uint64_t records) {
        const std::lock_guard lock{mutex};
        accepted = records;
    }

    /// No more pushes: a push that waits returns false.
    void close() {
        const std::lock_guard lock{mutex};
        closed = true;
        room.notify_all();
        if (task != nullptr) task->notify();
    }
    void end_session() {
        const std::lock_guard lock{mutex};
        task = nullptr;
        closed = true;
        room.notify_all();
    }
};

/// The last member to be destroyed of the graph's side: it calls `end`.
template <class End>
[[nodiscard]] std::shared_ptr<void> when_gone(End end) {
    return {nullptr, [end = std::move(end)](void*) { end(); }};
}

/// The graph's side of an inlet.
template <class T>
class InletSource {
  public:
    using record_type = T;
    static constexpr SourceTraits traits{.hears = events<Opened, Stopped>,
                                         .drains = true,
                                         .awaits_outside = true,
                                         .no_snapshots = true};

    explicit InletSource(std::shared_ptr<InletState<T>> state)
        : state_(std::move(state)), graph_(when_gone([state = state_] { state->end_session(); })) {}
    /// A copy of a prototype: a replica begins with nothing taken.
    InletSource(const InletSource& other) : state_(other.state_), graph_(other.graph_) {}
    InletSource(InletSource&&) noexcept = default;
    InletSource& operator=(const InletSource&) = delete;
    ~InletSource() = default;

    /// Throws GraphError at a second run.
    void on(const Opened& opened) {
        state_->begin_session(opened.task);
        // Destroyed with the task: a later close() must not notify it.
        session_ = when_gone([state = state_] { state->end_session(); });
    }
    /// Records that were pushed are delivered after it.
    void on(Stopped) noexcept { state_->close(); }
    /// Without the records that still wait in the inlet.
    auto state() { return std::tie(taken_, next_); }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (next_ == taken_.size()) {
            taken_.clear();
            next_ = 0;
            const SourceStatus status = state_->take(taken_);
            if (status != SourceStatus::more) return status;
        }
        for (; next_ != taken_.size() && budget != 0; --budget) {
            if (!emit(std::move(taken_[next_++]))) return SourceStatus::more;
        }
        return SourceStatus::more;
    }

  private:
    std::shared_ptr<InletState<T>> state_;
    std::shared_ptr<void> graph_;
    std::shared_ptr<void> session_;
    std::vector<T> taken_;
    std::size_t next_ = 0;
};

template <class T>
struct OutletState {
    explicit OutletState(std::size_t capacity, std::size_t bytes_max = fan_out_bytes_max)
        : capacity_records(std::max<std::size_t>(capacity, 1)),
          records_max(std::max(bytes_max / sizeof(T), capacity_records)) {}

    // Under the mutex.
    void push(T&& record) {
        waiting.push_back(std::move(record));
        count.store(++size, std::memory_order_relaxed);
    }
    /// There is at least one record.
    [[nodiscard]] T& front() noexcept {
        if (next == taken.size()) {
            taken.clear();
            next = 0;
            taken.swap(waiting);
        }
        return taken[next];
    }
    void pop_front() noexcept {
        ++next;
        count.store(--size, std::memory_order_relaxed);
    }

    /// The graph may run again. `of` is the run that ends, unless a new one has begun.
    void end_session(std::uint64_t of) {
        const std::lock_guard lock{mutex};
        if (of == session) end();
    }
    void end_session() {
        const std::lock_guard lock{mutex};
        end();
    }

    std::mutex mutex;
    std::condition_variable filled;
    std::vector<T> waiting;  // guarded by mutex
    std::vector<T> taken;    // guarded: what readers pop before it, from `next` on
    std::size_t next = 0;    // guarded
    std::size_t size = 0;    // guarded: of both
    std::size_t capacity_records;
    std::size_t records_max;  // what one input record may make of it
    /// Written under the mutex; the sink reads it without, as a hint. Relaxed: the mutex orders the
    /// records themselves.
    std::atomic<std::size_t> count{0};
    bool ended = false;             // guarded: no more input
    bool refused = false;           // guarded: the graph waits for room
    std::uint64_t session = 0;      // guarded: the number of the run
    runtime::Task* task = nullptr;  // guarded

  private:
    void end() {
        task = nullptr;
        ended = true;
        filled.notify_all();
    }
};

/// The graph's side of an outlet.
template <class T>
class OutletSink {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Closed, CutOff>,
                                           .has = Has::accepts,
                                           .one_replica = true,
                                           .stateless = true};

    explicit OutletSink(std::shared_ptr<OutletState<T>> state)
        : state_(std::move(state)), graph_(when_gone([state = state_] { state->end_session(); })) {}

    void on(const Opened& opened) {
        const std::lock_guard lock{state_->mutex};
        state_->task = &opened.task;
        state_->ended = false;
        session_number_ = ++state_->session;
        // Also for a run that was never started.
        session_ = when_gone([state = state_, of = session_number_] { state->end_session(of); });
    }
    [[nodiscard]] bool accepts() {
        if (state_->count.load(std::memory_order_relaxed) < state_->capacity_records) return true;
        const std::lock_guard lock{state_->mutex};
        state_->refused = state_->size >= state_->capacity_records;
        return !state_->refused;
    }
    void operator()(T&& record) {
        const std::lock_guard lock{state_->mutex};
        if (state_->ended) return;  // the run was cut off, and readers know
        // accepts() is called before each record that arrives, of which a flat_map may make
        // several.
        if (state_->size >= state_->records_max) {
            throw FanOutError(state_->records_max * sizeof(T));
        }
        state_->push(std::move(record));
        state_->filled.notify_one();
    }
    void on(Closed) { state_->end_session(session_number_); }
    void on(CutOff) noexcept { state_->end_session(session_number_); }

  private:
    std::shared_ptr<OutletState<T>> state_;
    std::shared_ptr<void> graph_;
    std::shared_ptr<void> session_;
    std::uint64_t session_number_ = 0;
};

}  // namespace operators

/// Pushes records into a running graph, from any thread. Copies push into the same stream.
template <class T>
class Inlet {
  public:
    /// Made by Graph::inlet.
    explicit Inlet(std::shared_ptr<operators::InletState<T>> state) : state_(std::move(state)) {}

    /// Waits for room. False when the inlet is closed, or the run was stopped, has failed or is
    /// over. Moves from the record (or copies it) only if the result is true. The record then
    /// reaches the end of the graph, unless the run fails or is cancelled.
    template <class U = T>
        requires std::constructible_from<T, U&&>
    bool push(U&& record) const {
        std::unique_lock lock{state_->mutex};
        state_->room.wait(lock, [this] { return state_->closed || has_room(); });
        return add(std::forward<U>(record));
    }
    /// Does not wait. False also when there is no room.
    template <class U = T>
        requires std::constructible_from<T, U&&>
    bool try_push(U&& record) const {
        const std::lock_guard lock{state_->mutex};
        return has_room() && add(std::forward<U>(record));
    }
    /// No more records: the stream ends after those that were pushed.
    void close() const { state_->close(); }
    /// Of Graph::journalled_inlet, from start() on: how many records its journal has accepted, in
    /// all runs together. A producer that starts again pushes the record of this number, counted
    /// from 0, and those behind it. 0 without a journal. O(1).
    [[nodiscard]] std::uint64_t accepted() const {
        const std::lock_guard lock{state_->mutex};
        return state_->accepted;
    }

  private:
    [[nodiscard]] bool has_room() const noexcept {
        return state_->waiting.size() < state_->capacity_records;
    }
    template <class U>
    bool add(U&& record) const {
        if (state_->closed) return false;
        state_->waiting.emplace_back(std::forward<U>(record));
        // Only the first record of a bunch needs to wake the graph.
        if (state_->waiting.size() == 1 && state_->task != nullptr) state_->task->notify();
        return true;
    }

    std::shared_ptr<operators::InletState<T>> state_;
};

/// Pops records from a running graph, from any thread.
template <class T>
class Outlet {
  public:
    /// Made by Stream::outlet.
    explicit Outlet(std::shared_ptr<operators::OutletState<T>> state) : state_(std::move(state)) {}

    /// Waits for a record. Empty when all were popped and the stream has ended, or the run was
    /// cancelled or has failed.
    [[nodiscard]] std::optional<T> pop() {
        std::unique_lock lock{state_->mutex};
        state_->filled.wait(lock, [this] { return state_->ended || state_->size != 0; });
        return take();
    }
    /// Does not wait; empty when there is no record now.
    [[nodiscard]] std::optional<T> try_pop() {
        const std::lock_guard lock{state_->mutex};
        return take();
    }

  private:
    std::optional<T> take() {
        if (state_->size == 0) return std::nullopt;
        std::optional<T> record{std::move(state_->front())};
        state_->pop_front();
        if (state_->refused && state_->task != nullptr) {
            state_->refused = false;
            state_->task->notify();
        }
        return record;
    }

    std::shared_ptr<operators::OutletState<T>> state_;
};

}  // namespace strid
