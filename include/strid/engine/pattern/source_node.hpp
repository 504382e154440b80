// SPDX-License-Identifier: Apache-2.0
//
// A node that makes tasks of nothing, by a function (pattern/node_work.hpp).
//
// Threads: only the thread that steps it; a stop may be asked for by any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <strid/engine/operator/faults.hpp>
#include <strid/engine/pattern/emission.hpp>
#include <strid/engine/pattern/name_of_tasks.hpp>
#include <strid/engine/pattern/pattern_task.hpp>

namespace strid::pattern {

/// The first node of a pattern.
template <TaskType U, class Generator>
class SourceNode final : public PatternNode {
  public:
    SourceNode(std::string name, std::size_t replica, std::size_t parallelism, Generator generator)
        : PatternNode(std::move(name), replica, parallelism, {}),
          generator_(std::move(generator)) {}

    [[nodiscard]] Output<U>& output() noexcept { return output_; }

    runtime::StepResult step(std::int64_t& clock_ns) override {
        std::size_t done = 0;
        if (settle(output_) && !ended_) {
            detail::NodeEmit<U, Nothing, false> emit{output_, emission_};
            operators::guarded(name(), [&] {
                while (done < budget() && output_.ready() && !ended_) {
                    ended_ = stopped_.load(std::memory_order_relaxed) || !generator_.generate(emit);
                    ++done;
                }
            });
            measure(done, clock_ns);
            if (emit.count() != 0) count_out(emit.count());
        }
        if (ended_ && output_.ready()) return finish(output_);
        return leave_step(output_, true, [] {});
    }
    [[nodiscard]] static NodeType type() {
        return {.kind = "source", .makes = detail::name_of_tasks<U>()};
    }
    void request_stop() noexcept override { stopped_.store(true, std::memory_order_relaxed); }

  private:
    Output<U> output_;
    Emission<U, Nothing> emission_;
    Generator generator_;
    bool ended_ = false;
    std::atomic<bool> stopped_{false};
};

}  // namespace strid::pattern
