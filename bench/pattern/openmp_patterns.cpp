// SPDX-License-Identifier: Apache-2.0
#include "openmp_patterns.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include <omp.h>

#include <strid/engine/base/cache_line.hpp>

namespace strid::bench::peers {

namespace {

using Number = std::uint64_t;

int threads_of(std::size_t threads) {
    return threads == 0 ? omp_get_num_procs() : static_cast<int>(threads);
}

struct alignas(2 * cache_line_bytes) PartialSum {
    Number sum = 0;
};

/// Threads: whichever runs the task of a stage; a stage has one at a time.
class Ring {
  public:
    explicit Ring(const RingLoad& load) : load_(load), head_(load), stages_(load.stages) {}

    /// Hands numbers to a stage, which becomes a task if it is none.
    void put(std::size_t stage, std::vector<Number>& numbers) {
        if (numbers.empty()) return;
        Stage& to = stages_[stage];
        bool begins = false;
        {
            const std::lock_guard lock(to.mutex);
            to.waiting.insert(to.waiting.end(), numbers.begin(), numbers.end());
            begins = !std::exchange(to.at_work, true);
        }
        numbers.clear();
        if (!begins) return;
#pragma omp task firstprivate(stage)
        work(stage);
    }
    [[nodiscard]] Number sum() const noexcept { return sum_; }

  private:
    struct alignas(2 * cache_line_bytes) Stage {
        std::mutex mutex;
        std::vector<Number> waiting;
        bool at_work = false;
    };

    void work(std::size_t stage) {
        std::vector<Number> taken;
        std::vector<Number> made;
        const std::size_t next = stage + 1 == stages_.size() ? 0 : stage + 1;
        while (take(stages_[stage], taken)) {
            for (const Number n : taken) {
                act(stage, n, made);
                if (made.size() >= load_.batch) put(next, made);
            }
            put(next, made);
        }
    }
    /// False: there is nothing, and the stage is no task any more.
    static bool take(Stage& from, std::vector<Number>& taken) {
        taken.clear();
        const std::lock_guard lock(from.mutex);
        std::swap(taken, from.waiting);
        from.at_work = !taken.empty();
        return from.at_work;
    }
    void act(std::size_t stage, Number n, std::vector<Number>& made) {
        if (stage == 0) {
            head_([&made](Number one) { made.push_back(one); });
        } else if (stage + 1 == stages_.size()) {
            sum_ += churn(n, load_.steps);
            made.push_back(n);
        } else {
            made.push_back(churn(n, load_.steps));
        }
    }

    RingLoad load_;
    RingHead head_;  // of the first stage
    std::vector<Stage> stages_;
    Number sum_ = 0;  // of the last stage
};

}  // namespace

std::uint64_t openmp_farm(const FarmLoad& load) {
    const int threads = threads_of(load.threads);
    std::vector<PartialSum> sums(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads) default(none) shared(load, sums)
#pragma omp single
    for (Number n = 0; n < load.tasks; ++n) {
#pragma omp task default(none) firstprivate(n) shared(load, sums)
        sums[static_cast<std::size_t>(omp_get_thread_num())].sum += churn(n, load.steps);
    }
    Number sum = 0;
    for (const PartialSum& partial : sums) sum += partial.sum;
    return sum;
}

std::uint64_t openmp_ring(const RingLoad& load) {
    Ring ring(load);
    std::vector<Number> start{0};
#pragma omp parallel num_threads(threads_of(load.threads)) default(none) shared(ring, start)
#pragma omp single
    ring.put(0, start);
    return ring.sum();
}

}  // namespace strid::bench::peers
