// SPDX-License-Identifier: Apache-2.0
//
// Where tasks enter a loop, from outside and from its end (paper 4, section 1.2.1.3).
//
// Threads: only the thread that steps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <strid/engine/pattern/emission.hpp>
#include <strid/engine/pattern/loop.hpp>
#include <strid/engine/pattern/loop_watch.hpp>
#include <strid/engine/pattern/name_of_tasks.hpp>
#include <strid/engine/pattern/pattern_task.hpp>

namespace strid::pattern {

/// The entry of a loop: tasks that come back go first, so that what is in the loop gets done before
/// more comes in.
template <TaskType T>
class LoopEntry final : public PatternNode {
  public:
    static constexpr std::size_t task_bytes = sizeof(T);

    /// `loops` are those around its own.
    LoopEntry(std::string name, std::vector<Loop*> loops)
        : PatternNode(std::move(name), 0, 1, std::move(loops)) {
        own_.set_entry(*this);
    }

    [[nodiscard]] Input<T>& input() noexcept { return input_; }
    [[nodiscard]] Output<T>& output() noexcept { return output_; }
    [[nodiscard]] Loop& own() noexcept { return own_; }
    [[nodiscard]] LoopWatch& watch() noexcept { return watch_; }
    /// A way back for one more node at the end of the loop. Before the run.
    [[nodiscard]] BackLane<T>& add_back_lane() {
        back_.push_back(std::make_unique<BackLane<T>>());
        return *back_.back();
    }

    runtime::StepResult step(std::int64_t& clock_ns) override {
        std::size_t done = 0;
        if (settle(output_)) {
            const std::size_t back = take_back();
            done = back + take_in(back);
            watch_.count(back, done - back);
            account(done, clock_ns);
            count_out(done);
            if (done == 0 && input_.ended() && own_.over()) {
                return finish(output_);
            }
        }
        return leave_step(output_, done != 0, [this] { input_.rest(); });
    }
    [[nodiscard]] bool has_work() const noexcept override { return input_.waiting(); }
    [[nodiscard]] std::string standstill() override { return watch_.standstill(name()); }

    [[nodiscard]] static NodeType type() {
        return {.kind = "loop",
                .takes = detail::name_of_tasks<T>(),
                .makes = detail::name_of_tasks<T>()};
    }

  private:
    std::size_t take_back() {
        std::size_t done = 0;
        for (auto& lane : back_) {
            T task;
            while (done < budget() && output_.ready() && lane->try_pop(task)) {
                output_.emit(std::move(task));
                ++done;
            }
        }
        return done;
    }
    std::size_t take_in(std::size_t done) {
        std::size_t taken = 0;
        while (done + taken < budget() && output_.ready()) {
            const std::span<T> tasks = input_.peek(1);
            if (tasks.empty()) break;
            own_.take(1);
            output_.emit(std::move(tasks.front()));
            input_.release(1);
            ++taken;
        }
        return taken;
    }

    Loop own_;
    Input<T> input_;
    Output<T> output_;
    std::vector<std::unique_ptr<BackLane<T>>> back_;
    LoopWatch watch_;
};

}  // namespace strid::pattern
