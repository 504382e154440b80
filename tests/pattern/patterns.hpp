// SPDX-License-Identifier: Apache-2.0
//
// The common part of the tests of patterns: every mode of the runtime, with queues so short that
// everything waits for everything, and a stream of numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <strid/pattern/pattern.hpp>

#include "../support/seeds.hpp"

namespace strid::test {

using namespace pattern;
using runtime::ExecutionOptions;

/// Every mode, and lanes of 1 task, of a few, and as they are by default.
inline std::vector<Options> all_options() {
    std::vector<Options> all;
    for (const std::size_t lane_tasks : {1U, 3U, 0U}) {
        for (const std::size_t workers : {1U, 2U, 3U}) {
            all.push_back({.execution = {.workers = workers}, .lane_tasks = lane_tasks});
        }
        all.push_back(
            {.execution = {.mode = ExecutionOptions::Mode::dedicated}, .lane_tasks = lane_tasks});
        for (const std::uint64_t seed : seeds(4)) {
            all.push_back({.execution = {.mode = ExecutionOptions::Mode::simulation, .seed = seed},
                           .lane_tasks = lane_tasks});
        }
    }
    return all;
}

inline constexpr std::uint64_t task_count = 500;

inline auto numbers(std::uint64_t count = task_count) {
    return source([next = std::uint64_t{0}, count]() mutable -> std::optional<std::uint64_t> {
        if (next == count) return std::nullopt;
        return next++;
    });
}

/// The tasks that arrived at the end, in their order.
template <class T>
class Collected {
  public:
    auto node() {
        return [all = all_](T task) {
            const std::lock_guard lock(all->mutex);
            all->tasks.push_back(std::move(task));
        };
    }
    [[nodiscard]] const std::vector<T>& tasks() const { return all_->tasks; }
    [[nodiscard]] std::vector<T> sorted() const {
        std::vector<T> tasks = all_->tasks;
        std::sort(tasks.begin(), tasks.end());
        return tasks;
    }

  private:
    struct All {
        std::mutex mutex;
        std::vector<T> tasks;
    };
    std::shared_ptr<All> all_ = std::make_shared<All>();
};

inline std::uint64_t square(std::uint64_t n) {
    return n * n;
}

inline std::vector<std::uint64_t> squares() {
    std::vector<std::uint64_t> all;
    for (std::uint64_t n = 0; n < task_count; ++n) all.push_back(n * n);
    return all;
}

}  // namespace strid::test
