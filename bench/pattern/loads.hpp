// SPDX-License-Identifier: Apache-2.0
//
// The loads of paper 4, section 1.3.2: a farm whose tasks take a given time, and a ring of stages.
// Work is a number of steps of a chain, not a time on the clock: a thread that the system has put
// aside does not get on with it, so that more threads than cores cannot look like more work done.
// Plain values and functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>

#include <strid/base/clock.hpp>

namespace strid::bench {

/// So many steps, each of which needs the one before. 0: the number itself.
[[nodiscard]] inline std::uint64_t churn(std::uint64_t number, std::uint64_t steps) noexcept {
    for (; steps != 0; --steps) number = number * 6364136223846793005U + 1442695040888963407U;
    return number;
}

/// Steps of the chain in a microsecond of this core: the most of several tries, by the processor
/// time of the calling thread. Some 20 ms.
[[nodiscard]] inline double measure_steps_per_us() {
    constexpr std::uint64_t steps = 500'000;
    const auto processor_us = [] {
        std::timespec time{};
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
    };
    double best_us = std::numeric_limits<double>::max();
    volatile std::uint64_t kept = 1;  // so that the chain is computed
    for (int i = 0; i < 9; ++i) {
        const double begin_us = processor_us();
        kept = churn(kept, steps);
        best_us = std::min(best_us, processor_us() - begin_us);
    }
    return static_cast<double>(steps) / best_us;
}

/// The time of an action: by the clock, and of the processor, over all threads of this process.
struct Spent {
    double seconds = 0;
    double processor_seconds = 0;
};
template <class Action>
[[nodiscard]] Spent spent_by(Action action) {
    const std::clock_t processor_begin = std::clock();
    const std::int64_t begin_ns = now_ns();
    action();
    const double seconds = static_cast<double>(now_ns() - begin_ns) / 1e9;
    return {seconds, static_cast<double>(std::clock() - processor_begin) / CLOCKS_PER_SEC};
}

/// How long a task takes, in steps.
[[nodiscard]] inline std::uint64_t steps_of(double grain_ns, double steps_per_us) {
    return static_cast<std::uint64_t>(grain_ns / 1e3 * steps_per_us + 0.5);
}

/// The numbers from 0 on are churned by the workers and added up by the node behind them.
struct FarmLoad {
    std::uint64_t tasks = 0;
    std::size_t threads = 0;  ///< In all; as many workers. 0: one for each core.
    std::uint64_t steps = 0;  ///< Of each task.
};

/// Stages of which the last is connected to the first. The first makes the numbers from 0 on:
/// `first` of them at the start, and `batch` for each that comes back, until there are `messages`.
/// Each stage churns each of them once, and the last adds them up.
struct RingLoad {
    std::uint64_t messages = 0;
    std::size_t stages = 4;  ///< 2 at least.
    std::size_t batch = 256;
    std::size_t first = 1'024;
    std::size_t threads = 0;  ///< 0: one for each core.
    std::uint64_t steps = 0;  ///< Of each stage.
};

/// The same sums by a loop: the answer, and what one thread takes.
[[nodiscard]] inline std::uint64_t loop_of(const FarmLoad& load) {
    std::uint64_t sum = 0;
    for (std::uint64_t n = 0; n < load.tasks; ++n) sum += churn(n, load.steps);
    return sum;
}
[[nodiscard]] inline std::uint64_t loop_of(const RingLoad& load) {
    std::uint64_t sum = 0;
    for (std::uint64_t n = 0; n < load.messages; ++n) sum += churn(n, load.steps * load.stages);
    return sum;
}

/// The first stage of a ring by whichever library.
class RingHead {
  public:
    explicit RingHead(const RingLoad& load) : load_(load), count_(load.first) {}

    /// For the message that starts the ring, and for each that comes back.
    template <class Emit>
    void operator()(Emit&& emit) {
        for (std::size_t i = 0; i < count_ && made_ < load_.messages; ++i) {
            emit(churn(made_++, load_.steps));
        }
        count_ = load_.batch;
    }

  private:
    RingLoad load_;
    std::size_t count_;
    std::uint64_t made_ = 0;
};

}  // namespace strid::bench
