// SPDX-License-Identifier: Apache-2.0
//
// Tasks for the tests of the runtime: numbers that flow through rings. They keep the contract of
// real ones: they find no item or no room, return `waiting`, and rely on being notified.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/engine/runtime/execution.hpp>
#include <strid/runtime/task.hpp>

namespace strid::test {

#ifdef __SANITIZE_THREAD__
inline constexpr std::uint64_t effort = 1;  // a tenth of the rounds
#else
inline constexpr std::uint64_t effort = 10;
#endif

using runtime::Execution;
using runtime::ExecutionOptions;
using runtime::StepResult;
using runtime::Task;

using Ring = channel::SpscRing<std::uint64_t>;

/// A task whose step is a function of the test.
class FunctionTask : public Task {
  public:
    using Step = std::function<StepResult(FunctionTask&)>;
    FunctionTask(std::string name, Step step) : Task(std::move(name)), step_(std::move(step)) {}

    StepResult step(std::int64_t& /*clock_ns*/) override {
        if (inside_.exchange(true)) overlapped_ = true;
        const StepResult result = step_(*this);
        inside_ = false;
        return result;
    }
    std::int64_t wake_at_ns() const noexcept override { return wake_at; }
    bool needs_own_thread() const noexcept override { return blocks; }
    bool awaits_outside() const noexcept override { return outside; }
    bool has_work() const noexcept override { return work; }
    void request_stop() noexcept override { stopping = true; }

    /// True when two threads were inside step() at once.
    bool overlapped() const { return overlapped_; }

    std::int64_t wake_at = 0;
    bool blocks = false;
    bool outside = false;
    std::atomic<bool> work{false};
    std::atomic<bool> stopping{false};

  private:
    Step step_;
    std::atomic<bool> inside_{false};
    std::atomic<bool> overlapped_{false};
};

/// A chain of tasks: the first emits 1, 2, ... count, the last adds them up. The rings are so small
/// that each task waits for its neighbours.
class Chain {
  public:
    Chain(std::size_t length, std::uint64_t count, std::size_t ring_capacity = 4,
          const std::string& prefix = "")
        : count_(count) {
        for (std::size_t i = 0; i + 1 < length; ++i) {
            rings_.push_back(std::make_unique<Ring>(ring_capacity));
        }
        for (std::size_t i = 0; i < length; ++i) {
            tasks_.push_back(std::make_unique<FunctionTask>(prefix + "task" + std::to_string(i),
                                                            [this, i](FunctionTask&) {
                                                                if (before_step) before_step(i);
                                                                return i == 0 ? emit() : pass_on(i);
                                                            }));
        }
    }

    std::vector<Task*> tasks() const {
        std::vector<Task*> result;
        for (const auto& task : tasks_) result.push_back(task.get());
        return result;
    }
    FunctionTask& task(std::size_t i) { return *tasks_[i]; }
    std::uint64_t emitted() const { return emitted_; }
    std::uint64_t received() const { return received_; }
    std::uint64_t sum() const { return sum_; }
    bool in_order() const { return in_order_; }
    bool overlapped() const {
        bool any = false;
        for (const auto& task : tasks_) any = any || task->overlapped();
        return any;
    }

    // Called with the number of the task: before every step, and before it returns `finished`.
    std::function<void(std::size_t)> before_step;
    std::function<void(std::size_t)> before_finish;

  private:
    StepResult emit() {
        if (emitted_ == count_ || tasks_[0]->stopping) {
            if (before_finish) before_finish(0);
            rings_[0]->close();
            tasks_[1]->notify();
            return StepResult::finished;
        }
        for (int budget = 8; budget > 0 && emitted_ < count_; --budget) {
            if (rings_[0]->try_push(emitted_ + 1) != channel::PushResult::ok) {
                return StepResult::waiting;  // the consumer notifies when there is room
            }
            ++emitted_;
            tasks_[1]->notify();
        }
        return StepResult::progressed;
    }

    StepResult pass_on(std::size_t i) {
        const bool last = i + 1 == tasks_.size();
        for (int budget = 8; budget > 0; --budget) {
            if (!last && rings_[i]->size() == rings_[i]->capacity()) return StepResult::waiting;
            std::uint64_t value = 0;
            const channel::PopResult popped = rings_[i - 1]->try_pop(value);
            if (popped == channel::PopResult::empty) return StepResult::waiting;
            if (popped == channel::PopResult::closed) {
                if (before_finish) before_finish(i);
                if (!last) {
                    rings_[i]->close();
                    tasks_[i + 1]->notify();
                }
                return StepResult::finished;
            }
            tasks_[i - 1]->notify();
            if (last) {
                in_order_ = in_order_ && value == received_ + 1;
                ++received_;
                sum_ += value;
            } else {
                static_cast<void>(rings_[i]->try_push(value));  // there is room, see above
                tasks_[i + 1]->notify();
            }
        }
        return StepResult::progressed;
    }

    std::uint64_t count_;
    std::vector<std::unique_ptr<Ring>> rings_;
    std::vector<std::unique_ptr<FunctionTask>> tasks_;
    std::uint64_t emitted_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t sum_ = 0;
    bool in_order_ = true;
};

struct NamedOptions {
    std::string name;
    ExecutionOptions options;
};

inline std::ostream& operator<<(std::ostream& out, const NamedOptions& named) {
    return out << named.name;
}

/// Every mode, with fewer and more threads than cores.
inline std::vector<NamedOptions> every_mode() {
    using Mode = ExecutionOptions::Mode;
    using Waiting = ExecutionOptions::Waiting;
    return {{"OneWorker", {.workers = 1}},
            {"TwoWorkers", {.workers = 2}},
            {"EightWorkers", {.workers = 8}},
            {"DefaultWorkersPinned", {.pin = true}},
            {"SpinningWorkers", {.workers = 3, .waiting = Waiting::spin}},
            {"DedicatedParking", {.mode = Mode::dedicated}},
            {"DedicatedSpinning", {.mode = Mode::dedicated, .waiting = Waiting::spin}},
            {"DedicatedPinned", {.mode = Mode::dedicated, .pin = true}},
            {"Simulation", {.mode = Mode::simulation, .seed = 7}}};
}

}  // namespace strid::test
