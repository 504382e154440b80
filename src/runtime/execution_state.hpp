// SPDX-License-Identifier: Apache-2.0
//
// The state of an execution: its pools, its threads, and its end. Locks are taken to control a run,
// never for a step. Threads: as in engine/runtime/execution.hpp.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <strid/engine/runtime/execution.hpp>

#include "pool.hpp"
#include "watchdog.hpp"
#include "worker.hpp"

namespace strid::runtime {

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
    [[nodiscard]] bool in_its_process() const noexcept;
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
    const unsigned process_;  // how often this process had been forked off another
    std::vector<std::unique_ptr<Worker>> workers_;
    const std::vector<std::shared_ptr<Pool>> pools_;  // after workers_, which it fills
    Watchdog watchdog_;

    mutable std::mutex mutex_;  // guards the members below, up to done_
    std::condition_variable changed_;
    bool started_ = false;
    bool refused_ = false;  // start() throws
    bool cancelled_ = false;
    bool settled_ = false;  // its end is decided: later failures and cancellations have no effect
    std::size_t threads_alive_ = 0;
    std::exception_ptr failure_;
    std::atomic<bool> done_{false};  // written under the mutex

    std::atomic<bool> helped_{false};  // a caller steps the tasks
    std::mutex join_mutex_;            // guards threads_ once they run
    std::vector<std::thread> threads_;
};

}  // namespace strid::runtime
