// SPDX-License-Identifier: Apache-2.0
//
// The control of an execution: builds the pools, starts and joins the threads, keeps the first
// failure. Nothing here is on the path of a batch.
#include "execution_state.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

#include <strid/base/error.hpp>
#include <strid/base/topology.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/thread_limits.hpp>
#include <strid/engine/base/thread_name.hpp>
#include <strid/engine/runtime/execution.hpp>

#include "simulation.hpp"
#include "task_placement.hpp"

namespace strid::runtime {

namespace {

constexpr auto never = std::chrono::steady_clock::time_point::max();
// A caller that finds nothing ready checks again after this time: the task that it needs waits for
// the outside, or another caller steps it.
constexpr std::chrono::microseconds look_again{50};

// A forked process has one more than its parent. Relaxed: it changes while the process has one
// thread.
std::atomic<unsigned> forks{0};

unsigned process_number() {
    static const int registered =
        ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
    static_cast<void>(registered);  // refused for want of memory: a child is not distinguished
    return forks.load(std::memory_order_relaxed);
}

void check_tasks(const std::vector<Task*>& tasks) {
    std::unordered_set<const Task*> seen;
    for (const Task* task : tasks) {
        if (task == nullptr) throw GraphError("a task is missing (null pointer)");
        if (!seen.insert(task).second || Pool::has_slot(*task)) {
            throw GraphError("task '" + task->name() + "' was given to an execution before");
        }
    }
}

}  // namespace

Execution::State::State(std::vector<Task*> tasks, ExecutionOptions options, Threads threads)
    : tasks_(std::move(tasks)),
      options_(std::move(options)),
      whose_threads_(threads),
      process_(process_number()),
      pools_(build_pools()),
      watchdog_(pools_) {}

Execution::State::~State() {
    cancel();
    {
        std::unique_lock lock(mutex_);
        if (started_) (void)wait_until(lock, never);
    }
    join();
}

std::vector<std::shared_ptr<Pool>> Execution::State::build_pools() {
    check_tasks(tasks_);
    const Topology topology = Topology::detect();
    const Placement placement = place(tasks_, options_, topology);
    if (whose_threads_ == Threads::of_callers && placement.threads > 1) {
        throw GraphError(
            "an execution on the threads of its callers has one worker, and tasks "
            "that need no thread of their own");
    }
    const bool yields = placement.threads > topology.cores().size();
    std::vector<std::shared_ptr<Pool>> pools;
    for (const Placement::PoolPlan& plan : placement.pools) {
        std::vector<Pool::Member> members;
        for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
            members.push_back({tasks_[plan.tasks[i]], plan.homes[i], plan.tasks[i]});
        }
        pools.push_back(Pool::create(members, plan.processors.size()));
        for (std::size_t number = 0; number < plan.processors.size(); ++number) {
            Worker::Settings settings{
                .number = number,
                .waiting = options_.waiting,
                .yields = yields,
                .processors = plan.processors[number],
                .begin_on = plan.begin_on.empty() ? -1 : plan.begin_on[number]};
            workers_.push_back(std::make_unique<Worker>(*pools.back(), *this, std::move(settings)));
        }
    }
    return pools;
}

void Execution::State::start() {
    std::string refusal;
    {
        const std::lock_guard lock(mutex_);
        if (started_) throw GraphError("an execution can be started only once");
        started_ = true;
        refusal = start_threads();
        refused_ = !refusal.empty();
    }
    if (refusal.empty()) {
        if (workers_.empty()) end(0);
        return;
    }
    cancel();
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return finished(); });
    }
    join();
    throw Error("cannot start the threads of the execution: " + refusal);
}

// Under the mutex. Returns why not all threads run; empty: they do.
std::string Execution::State::start_threads() {
    const bool watched = options_.watchdog.count() > 0 && !workers_.empty();
    threads_alive_ = whose_threads_ == Threads::own ? workers_.size() : 0;
    std::size_t started = 0;
    try {
        threads_.reserve(threads_alive_ + 1);
        if (watched) {
            threads_.emplace_back([this] {
                strid::detail::name_this_thread("strid-watchdog");
                watch();
            });
        }
        for (; started < threads_alive_; ++started) {
            threads_.emplace_back([this, started] {
                strid::detail::name_this_thread(fmt::format("strid-w{}", started).c_str());
                run_thread(*workers_[started]);
            });
        }
    } catch (const std::system_error&) {
        thread_ended(threads_alive_ - started);
        return reached_thread_limit();
    } catch (const std::exception& error) {
        thread_ended(threads_alive_ - started);
        return error.what();
    }
    return {};
}

void Execution::State::run_thread(Worker& worker) noexcept {
    if (options_.mode == ExecutionOptions::Mode::simulation) {
        simulate(*pools_.front(), *this, worker, options_.seed);
    } else {
        worker.run();
    }
    {
        const std::lock_guard lock(mutex_);
        if (threads_alive_ > 1) return thread_ended(1);
    }
    end(1);
}

// No thread steps any more, and the last thread, if there is one, is about to end.
void Execution::State::end(std::size_t threads) noexcept {
    settle();
    const std::lock_guard lock(mutex_);
    thread_ended(threads);
}

void Execution::State::settle() noexcept {
    ExecutionEnd end;
    bool reported = true;
    {
        const std::lock_guard lock(mutex_);
        settled_ = true;
        end = {failure_, cancelled_};
        reported = !refused_;
    }
    // A thread that cancels ends the pools first: some inlets and outlets may not be interrupted
    // yet.
    if (end.cancelled) interrupt_all();
    if (!reported || !options_.on_end) return;
    try {
        options_.on_end(end);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
    }
}

// Under the mutex.
void Execution::State::thread_ended(std::size_t count) noexcept {
    threads_alive_ -= count;
    if (threads_alive_ > 0) return;
    done_.store(true, std::memory_order_release);  // pairs with the acquire in finished()
    changed_.notify_all();
}

// The watchdog's thread, for which the end does not wait.
void Execution::State::watch() noexcept {
    try {
        static_cast<void>(watchdog_.check());
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, options_.watchdog, [&] { return finished(); })) {
            lock.unlock();
            const std::vector<std::string>& names = watchdog_.check();
            if (!names.empty() && options_.on_stalled) options_.on_stalled(names);
            lock.lock();
        }
    } catch (...) {
        task_failed(std::current_exception());
    }
}

void Execution::State::join() noexcept {
    const std::lock_guard lock(join_mutex_);
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

bool Execution::State::in_its_process() const noexcept {
    return forks.load(std::memory_order_relaxed) == process_;
}

bool Execution::State::is_inside() const noexcept {
    const Worker* worker = Worker::current();
    if (worker == nullptr) return false;
    return std::ranges::any_of(pools_, [&](const auto& pool) { return worker->works_for(*pool); });
}

void Execution::State::wait() {
    if (is_inside()) {
        throw GraphError("a step waits for the execution that it is part of, and so for itself");
    }
    std::unique_lock lock(mutex_);
    if (!started_ && cancelled_) return;
    if (!started_) throw GraphError("an execution was waited for before it was started");
    (void)wait_until(lock, never);
    lock.unlock();
    join();
    lock.lock();
    if (failure_) std::rethrow_exception(failure_);
}

bool Execution::State::wait_for(std::chrono::nanoseconds time) {
    // The clock cannot count more.
    constexpr std::chrono::nanoseconds time_max = std::chrono::hours{24 * 365 * 50};
    std::unique_lock lock(mutex_);
    return wait_until(lock, std::chrono::steady_clock::now() + std::min(time, time_max));
}

// Under the mutex. With Threads::of_callers this thread steps the ready tasks; if there are none,
// or another caller steps them, it waits.
bool Execution::State::wait_until(std::unique_lock<std::mutex>& lock,
                                  std::chrono::steady_clock::time_point time) {
    const auto is_over = [this] { return finished(); };
    if (whose_threads_ == Threads::own || !started_) {
        if (time != never) return changed_.wait_until(lock, time, is_over);
        changed_.wait(lock, is_over);
        return true;
    }
    while (!finished()) {
        lock.unlock();
        const bool helped = help();
        lock.lock();
        const auto now = std::chrono::steady_clock::now();
        if (now >= time) return finished();
        if (!helped) changed_.wait_until(lock, std::min(time, now + look_again), is_over);
    }
    return true;
}

bool Execution::State::help() noexcept {
    if (whose_threads_ == Threads::own || workers_.empty()) return false;
    bool helped = false;
    do {
        // Acquire and release: the next caller sees what this one's steps wrote.
        if (helped_.exchange(true, std::memory_order_seq_cst)) return helped;  // pairs below
        helped = workers_.front()->run_ready() || helped;
        // One of the helping callers must end the execution: the one that ends the pool checks
        // after the store, and a later one after its own, so that one of them gets here.
        if (pools_.front()->ending() && !finished()) end(0);
        helped_.store(false, std::memory_order_seq_cst);  // pairs with the exchange above
    } while (pools_.front()->ending() && !finished());
    return helped;
}

void Execution::State::stop() noexcept {
    for (Task* task : tasks_) {
        task->request_stop();
        task->notify();
    }
}

void Execution::State::cancel() noexcept {
    bool started = false;
    {
        const std::lock_guard lock(mutex_);
        if (settled_) return;
        cancelled_ = true;
        started = started_;
    }
    for (const auto& pool : pools_) pool->end();
    // After the pools: an interrupted source may look finished, and no step must act on it.
    if (started) interrupt_all();
    if (started) (void)help();  // ends the execution if no other thread does
}

void Execution::State::interrupt_all() noexcept {
    for (Task* task : tasks_) task->interrupt();
}

void Execution::State::task_failed(std::exception_ptr cause) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (settled_) return;
        if (!failure_) failure_ = std::move(cause);
    }
    cancel();
}

ExecutionSnapshot Execution::State::snapshot() const {
    ExecutionSnapshot snapshot;
    for (const Task* task : tasks_) {
        snapshot.tasks.push_back({task->name(), task->counters()});
        if (!snapshot.tasks.back().counters.finished) ++snapshot.tasks_unfinished;
    }
    for (const auto& worker : workers_) snapshot.workers.push_back(worker->counters());
    return snapshot;
}

}  // namespace strid::runtime
