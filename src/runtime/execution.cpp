// SPDX-License-Identifier: Apache-2.0
//
// The control of an execution: builds the pools, starts and joins the threads, keeps the first
// failure. Nothing here is on the path of a batch.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <utility>

#include <strid/base/assert.hpp>
#include <strid/base/error.hpp>
#include <strid/base/topology.hpp>
#include <strid/runtime/execution.hpp>

#include "placement.hpp"
#include "pool.hpp"
#include "simulation.hpp"
#include "watchdog.hpp"
#include "worker.hpp"

namespace strid::runtime {

namespace {

constexpr auto never = std::chrono::steady_clock::time_point::max();
// A caller that finds nothing ready looks again after this long: what it waits for is outside, or
// another caller steps it.
constexpr std::chrono::microseconds look_again{50};

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

class Execution::State final : public Host {
  public:
    State(std::vector<Task*> tasks, ExecutionOptions options, Threads threads);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void start();
    void wait();
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds time);
    void stop() noexcept;
    void cancel() noexcept;
    void task_failed(std::exception_ptr cause) noexcept override;
    bool help() noexcept;
    [[nodiscard]] Threads threads() const noexcept { return whose_threads_; }
    [[nodiscard]] bool is_inside() const noexcept;
    void interrupt_all() noexcept;
    [[nodiscard]] bool finished() const noexcept {
        return done_.load(std::memory_order_acquire);  // pairs with the release in thread_ended()
    }
    [[nodiscard]] ExecutionSnapshot snapshot() const;
    [[nodiscard]] std::vector<std::string> stalled() const { return watchdog_.stalled(); }

  private:
    std::vector<std::shared_ptr<Pool>> build_pools();
    std::string start_threads();
    void run_thread(Worker& worker) noexcept;
    void thread_ended(std::size_t count) noexcept;
    void end(std::size_t threads) noexcept;
    void settle() noexcept;
    void watch() noexcept;
    void join() noexcept;
    [[nodiscard]] bool wait_until(std::unique_lock<std::mutex>& lock,
                                  std::chrono::steady_clock::time_point time);

    const std::vector<Task*> tasks_;
    const ExecutionOptions options_;
    const Threads whose_threads_;
    std::vector<std::unique_ptr<Worker>> workers_;
    const std::vector<std::shared_ptr<Pool>> pools_;  // after workers_, which it fills
    Watchdog watchdog_;

    mutable std::mutex mutex_;  // guards the members below, up to done_
    std::condition_variable changed_;
    bool started_ = false;
    bool refused_ = false;  // start() throws
    bool cancelled_ = false;
    bool settled_ = false;  // how it ended: what fails or cancels from now on comes too late
    std::size_t threads_alive_ = 0;
    std::exception_ptr failure_;
    std::atomic<bool> done_{false};  // written under the mutex

    std::atomic<bool> helped_{false};  // a caller steps the tasks
    std::mutex join_mutex_;            // guards threads_ once they run
    std::vector<std::thread> threads_;
};

Execution::State::State(std::vector<Task*> tasks, ExecutionOptions options, Threads threads)
    : tasks_(std::move(tasks)),
      options_(std::move(options)),
      whose_threads_(threads),
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
    const bool yields = options_.waiting == ExecutionOptions::Waiting::spin &&
                        placement.threads > topology.cores().size();
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

// Under the mutex. Returns why not all of them run; empty: they do.
std::string Execution::State::start_threads() {
    const bool watched = options_.watchdog.count() > 0 && !workers_.empty();
    threads_alive_ = whose_threads_ == Threads::own ? workers_.size() : 0;
    std::size_t started = 0;
    try {
        threads_.reserve(threads_alive_ + 1);
        if (watched) threads_.emplace_back([this] { watch(); });
        for (; started < threads_alive_; ++started) {
            threads_.emplace_back([this, started] { run_thread(*workers_[started]); });
        }
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

// Nothing steps any more, and the last thread, if there is one, is about to end.
void Execution::State::end(std::size_t threads) noexcept {
    settle();
    const std::lock_guard lock(mutex_);
    thread_ended(threads);
}

void Execution::State::settle() noexcept {
    ExecutionEnd end;
    bool told = true;
    {
        const std::lock_guard lock(mutex_);
        settled_ = true;
        end = {failure_, cancelled_};
        told = !refused_;
    }
    // A thread that cancels ends the pools first: the doors may not all know by now.
    if (end.cancelled) interrupt_all();
    if (!told || !options_.on_end) return;
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

// The watchdog's thread. Not one of those that the end waits for.
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
    // More is more than the clock can count.
    constexpr std::chrono::nanoseconds time_max = std::chrono::hours{24 * 365 * 50};
    std::unique_lock lock(mutex_);
    return wait_until(lock, std::chrono::steady_clock::now() + std::min(time, time_max));
}

// Under the mutex. On the threads of callers this one steps what is ready; where nothing is, or
// another caller does it, there is something to be waited for outside.
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
        // Acquire and release: what one caller's steps wrote, the next one's see.
        if (helped_.exchange(true, std::memory_order_seq_cst)) return helped;  // pairs below
        helped = workers_.front()->run_ready() || helped;
        // The end is for one of those that help: the one that ends the pool looks after the store,
        // and one that helps after its own, so that one of them comes here.
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
    // After the pools: a source that is interrupted may look finished, and no step is to act on it.
    if (started) interrupt_all();
    if (started) (void)help();  // where no other thread does: the end
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

Execution::Execution(std::vector<Task*> tasks, ExecutionOptions options, Threads threads)
    : state_(std::make_unique<State>(std::move(tasks), std::move(options), threads)) {}

Execution::~Execution() = default;

void Execution::start() {
    state_->start();
}

void Execution::wait() {
    state_->wait();
}

bool Execution::inside_a_step() noexcept {
    return Worker::current() != nullptr;
}

Threads Execution::threads() const noexcept {
    return state_->threads();
}

bool Execution::help() noexcept {
    return state_->help();
}

bool Execution::is_inside() const noexcept {
    return state_->is_inside();
}

bool Execution::wait_for(std::chrono::nanoseconds time) {
    return state_->wait_for(time);
}

void Execution::stop() noexcept {
    state_->stop();
}

void Execution::cancel() noexcept {
    state_->cancel();
}

void Execution::fail(std::exception_ptr cause) noexcept {
    state_->task_failed(std::move(cause));
}

bool Execution::finished() const noexcept {
    return state_->finished();
}

ExecutionSnapshot Execution::snapshot() const {
    return state_->snapshot();
}

std::vector<std::string> Execution::stalled() const {
    return state_->stalled();
}

}  // namespace strid::runtime
