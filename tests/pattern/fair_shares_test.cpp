// SPDX-License-Identifier: Apache-2.0
//
// Which worker gets how many tasks of the same kind by the policy Adaptive, with queues that the
// test empties: no clock and no thread, so that each run is the same. Workers of one speed, however
// they take turns and whatever time they have measured, get shares that differ by 2 at most.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/pattern/scheduling.hpp>

namespace strid::pattern {
namespace {

class Idle final : public runtime::Task {
  public:
    using Task::Task;
    runtime::StepResult step(std::int64_t&) override { return runtime::StepResult::waiting; }
};

/// A farm whose producer adds tasks as long as there is room, and whose workers are stepped by the
/// test.
class Farm {
  public:
    explicit Farm(const std::vector<std::int64_t>& task_ns) {
        for (const std::int64_t ns : task_ns) {
            lanes_.emplace_back(2'048);
            lanes_.back().connect(producer_, room_wait_, consumer_);
            times_.emplace_back(ns);
        }
        for (std::size_t i = 0; i < lanes_.size(); ++i) workers_.emplace_back(lanes_[i], times_[i]);
        given_.resize(lanes_.size());
    }

    /// A step of the producer: so many tasks, or as many as find room.
    void produce(std::size_t tasks) {
        while (tasks != 0) {
            const Grant grant = scheduler_->grant(0, workers_);
            const std::size_t count = std::min(grant.tasks, tasks);
            if (count == 0) return;
            for (std::size_t left = count; left != 0;) {
                const std::size_t slots = lanes_[grant.worker].claim(left).size();
                lanes_[grant.worker].commit(slots);
                left -= slots;
            }
            given_[grant.worker] += count;
            tasks -= count;
        }
    }
    /// A step of a worker: so many tasks, or those that wait.
    void work(std::size_t worker, std::size_t tasks) {
        while (tasks != 0) {
            const std::size_t count = lanes_[worker].peek(tasks).size();
            if (count == 0) return lanes_[worker].rest();
            lanes_[worker].release(count);
            tasks -= count;
        }
    }
    [[nodiscard]] std::string shares() const {
        std::string text;
        for (const std::uint64_t tasks : given_) text += std::to_string(tasks) + ' ';
        return text;
    }
    [[nodiscard]] double unfairness() const {
        const auto [least, most] = std::minmax_element(given_.begin(), given_.end());
        return static_cast<double>(*most) / static_cast<double>(std::max<std::uint64_t>(*least, 1));
    }

  private:
    Idle producer_{"producer"};
    Idle consumer_{"consumer"};
    RoomWait room_wait_;
    std::deque<Lane<int>> lanes_;
    std::deque<std::atomic<std::int64_t>> times_;
    std::vector<FarmWorker<int>> workers_;
    std::unique_ptr<Scheduler<int>> scheduler_ = Adaptive{}.scheduler<int>();
    std::vector<std::uint64_t> given_;
};

/// Workers in turn, with as many tasks each as a step of 20 us has, while the producer has more.
TEST(FairShares, OfWorkersThatTakeTurns) {
    for (const std::int64_t task_ns : {25, 500, 5'000, 50'000, 1'000'000}) {
        Farm farm({task_ns, task_ns, task_ns});
        const auto step = static_cast<std::size_t>(std::max<std::int64_t>(20'000 / task_ns, 1));
        for (int round = 0; round < 4'000; ++round) {
            farm.produce(256);
            farm.work(static_cast<std::size_t>(round) % 3, step);
        }
        EXPECT_LE(farm.unfairness(), 2) << task_ns << " ns: " << farm.shares();
    }
}

/// A worker that was put aside in its first step has measured a long time, or none.
TEST(FairShares, OfAWorkerWhoseMeasuredTimeIsWrong) {
    for (const std::int64_t wrong_ns : {0, 10'000, 4'000'000}) {
        Farm farm({100, wrong_ns});
        for (int round = 0; round < 4'000; ++round) {
            farm.produce(100);
            farm.work(static_cast<std::size_t>(round) % 2, 200);
        }
        EXPECT_LE(farm.unfairness(), 2) << wrong_ns << " ns: " << farm.shares();
    }
}

/// One worker is stepped after each step of the producer, the other shares its thread with more
/// nodes, and has a step of the same time for eight of them. It catches up.
TEST(FairShares, OfAWorkerThatIsSteppedSeldom) {
    Farm farm({100, 100});
    for (int round = 0; round < 8'000; ++round) {
        farm.produce(100);
        farm.work(0, 200);
        if (round % 8 == 7) farm.work(1, 800);
    }
    EXPECT_LE(farm.unfairness(), 2) << farm.shares();
}

/// A worker in a long task does not get what another one may do: its queue is the bound.
TEST(FairShares, WorkerThatIsBusyGetsNoMoreThanItsQueue) {
    Farm farm({100, 100});
    farm.produce(10'000);
    farm.work(1, 10'000);
    for (int round = 0; round < 1'000; ++round) {
        farm.produce(1'000);
        farm.work(1, 2'000);
    }
    EXPECT_GT(farm.unfairness(), 100) << farm.shares();
}

}  // namespace
}  // namespace strid::pattern
