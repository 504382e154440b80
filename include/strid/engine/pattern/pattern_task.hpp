// SPDX-License-Identifier: Apache-2.0
//
// The runtime task of a node of a pattern. A step works on tasks of the pattern for about 20 us, at
// least on one, and then wakes the nodes that it sent tasks to.
//
// Threads: a node is stepped by one thread at a time; its counters may be read by any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/pattern/loop.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/counter.hpp>
#include <strid/runtime/task.hpp>

namespace strid::pattern {

/// The counters of a node. Any thread; each figure is exact at some recent moment.
struct NodeCounters {
    std::uint64_t tasks_in = 0;
    std::uint64_t tasks_out = 0;
    runtime::TaskCounters steps;
    /// Those that its function asked its context for, by name.
    std::vector<std::pair<std::string, std::uint64_t>> own;
};

class PatternNode : public runtime::Task {
  public:
    /// `loops` are those that the node is in, from the outermost on.
    PatternNode(std::string name, std::size_t replica, std::size_t parallelism,
                std::vector<Loop*> loops)
        : Task(std::move(name)),
          context_{Task::name(), replica, parallelism, nullptr, &counters_},
          loops_(std::move(loops)) {}

    /// Before the first step, on the thread that starts the pattern. Throws OperatorError.
    virtual void open() {}

    [[nodiscard]] const std::atomic<std::int64_t>& task_ns() const noexcept { return task_ns_; }
    [[nodiscard]] NodeCounters node_counters() const {
        NodeCounters all{in_.load(std::memory_order_relaxed),
                         out_.load(std::memory_order_relaxed),
                         counters(),
                         {}};
        counters_.for_each([&all](const std::string& name, std::uint64_t value) {
            all.own.emplace_back(name, value);
        });
        return all;
    }

    /// Of one of the last nodes of a loop: tasks that it did not send back, or of which something
    /// left. Any thread.
    [[nodiscard]] std::uint64_t tasks_that_left() const noexcept {
        return left_.load(std::memory_order_relaxed);
    }

  protected:
    /// How many tasks a step may begin.
    [[nodiscard]] std::size_t budget() const noexcept { return budget_; }
    /// How many tasks may be handed on together.
    [[nodiscard]] std::size_t together() const noexcept {
        return budget_ >= short_tasks_per_step ? 16 : 1;
    }
    /// After a step that worked on `tasks` which came in. Reads the clock.
    void account(std::size_t tasks, std::int64_t& clock_ns) noexcept {
        measure(tasks, clock_ns);
        count_in(tasks);
    }
    /// The same where none came in: how long one takes.
    void measure(std::size_t tasks, std::int64_t& clock_ns) noexcept {
        if (tasks == 0) return;
        const std::int64_t began_ns = std::exchange(clock_ns, now_ns());
        const std::int64_t each_ns = (clock_ns - began_ns) / static_cast<std::int64_t>(tasks);
        std::int64_t mean_ns = task_ns_.load(std::memory_order_relaxed);
        mean_ns = mean_ns == 0 ? each_ns : mean_ns + (each_ns - mean_ns) / 4;
        mean_ns = std::max<std::int64_t>(mean_ns, 1);
        task_ns_.store(mean_ns, std::memory_order_relaxed);
        budget_ = static_cast<std::size_t>(
            std::clamp<std::int64_t>(step_ns / mean_ns, 1, tasks_per_step_max));
    }
    /// The beginning of a step: hands on what is kept; true when nothing is left. An exception of a
    /// policy names the node.
    template <class Out>
    [[nodiscard]] bool settle(Out& output) {
        output.hand_on_together(together());
        return operators::guarded(name(), [&] { return output.settle(); });
    }
    /// The end of a step: wakes the nodes that something was handed to, and says what comes next.
    /// `more`: there may be something to do at once; else the node rests.
    template <class Out, class Rest>
    [[nodiscard]] runtime::StepResult leave_step(Out& output, bool more, const Rest& rest) {
        using runtime::StepResult;
        output.announce();
        if (!output.ready()) {
            const bool waits = operators::guarded(name(), [&] { return output.must_wait(); });
            return waits ? StepResult::waiting : StepResult::progressed;
        }
        if (more) return StepResult::progressed;
        rest();
        return StepResult::waiting;
    }
    /// The same for the last step of the node.
    template <class Out>
    [[nodiscard]] static runtime::StepResult finish(Out& output) {
        output.close();
        output.announce();
        return runtime::StepResult::finished;
    }
    void count_out(std::size_t tasks) noexcept {
        out_.store(out_.load(std::memory_order_relaxed) + tasks, std::memory_order_relaxed);
    }
    void count_in(std::size_t tasks) noexcept {
        in_.store(in_.load(std::memory_order_relaxed) + tasks, std::memory_order_relaxed);
    }
    void count_left() noexcept {
        left_.store(left_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    [[nodiscard]] const Context& context() const noexcept { return context_; }
    [[nodiscard]] const std::vector<Loop*>& loops() const noexcept { return loops_; }

  private:
    static constexpr std::int64_t step_ns = 20'000;
    static constexpr std::int64_t tasks_per_step_max = 256;
    static constexpr std::size_t short_tasks_per_step = 64;  // some 300 ns each

    operators::CounterSet counters_;
    Context context_;
    std::vector<Loop*> loops_;
    std::size_t budget_ = 1;
    std::atomic<std::uint64_t> in_{0};
    std::atomic<std::uint64_t> out_{0};
    std::atomic<std::uint64_t> left_{0};
    // A line of its own: schedulers read it.
    alignas(cache_line_bytes) std::atomic<std::int64_t> task_ns_{0};
};

}  // namespace strid::pattern
