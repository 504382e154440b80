// SPDX-License-Identifier: Apache-2.0
//
// The schedulers of the library's policies (pattern/scheduling.hpp).
//
// A scheduler is used by the thread that steps its node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <strid/pattern/scheduler.hpp>
#include <strid/pattern/workers_in_use.hpp>

namespace strid::pattern {

namespace detail {

/// Throws GraphError where a farm cannot have another number of workers in use: by a policy for
/// which each worker has its own tasks, or by the load that several nodes see.
void check_in_use(const WorkersInUse& in_use, bool any_worker, std::size_t nodes);
/// Throws GraphError.
[[noreturn]] void throw_no_such_worker(std::size_t worker, std::size_t workers);

[[nodiscard]] inline std::size_t next_of(std::size_t worker, std::size_t count) noexcept {
    return worker + 1 == count ? 0 : worker + 1;
}

/// The queues of all workers have one depth, by the shortest mean time of a task: a worker that the
/// system has put aside in a step measures long tasks, and would get few from then on. Where tasks
/// are short, the worker that got the fewest so far is next as long as half of its queue is free;
/// else the one with the least to do. So one whose thread also runs the node before it gets as many
/// as the others.
template <class T>
class AdaptiveScheduler final : public Scheduler<T> {
  public:
    Grant grant(const T& /*task*/, std::span<const FarmWorker<T>> workers) override {
        if (next_ >= workers.size()) next_ = 0;
        if (given_.size() < workers.size()) given_.resize(workers.size());
        const std::size_t depth = depth_of(workers);
        Grant best;
        if (depth >= depth_of_short_tasks) best = to_the_fewest(workers, depth);
        if (best.tasks == 0) best = to_the_least_loaded(workers, depth);
        if (best.tasks == 0) return best;
        given_[best.worker] += best.tasks;
        next_ = next_of(best.worker, workers.size());
        return best;
    }

  private:
    // Waiting tasks take this long in all, so that the last tasks of a stream keep all workers
    // busy; two tasks at least, so that a worker need not wait for the next one.
    static constexpr std::int64_t queue_ns = 100'000;
    static constexpr std::size_t runs_in_queue = 4;
    // Half a queue of so many tasks takes 50 us, which a worker may have before it though another
    // has nothing to do.
    static constexpr std::size_t depth_of_short_tasks = 8;

    [[nodiscard]] static std::size_t depth_of(std::span<const FarmWorker<T>> workers) noexcept {
        std::int64_t task_ns = 0;
        for (const FarmWorker<T>& worker : workers) {
            const std::int64_t its_ns = worker.task_ns();
            if (its_ns != 0 && (task_ns == 0 || its_ns < task_ns)) task_ns = its_ns;
        }
        const std::size_t most = workers.front().capacity();
        const std::size_t least = std::min<std::size_t>(most, 2);
        if (task_ns == 0) return least;
        return std::clamp(static_cast<std::size_t>(queue_ns / task_ns), least, most);
    }
    [[nodiscard]] static Grant run_of(std::size_t worker, std::size_t room, std::size_t depth) {
        return {worker, std::min(room, std::max<std::size_t>(depth / runs_in_queue, 1))};
    }
    [[nodiscard]] Grant to_the_fewest(std::span<const FarmWorker<T>> workers,
                                      std::size_t depth) const {
        std::size_t fewest = next_;
        for (std::size_t i = 1, worker = next_; i < workers.size(); ++i) {
            worker = next_of(worker, workers.size());
            if (given_[worker] < given_[fewest]) fewest = worker;
        }
        (void)workers[fewest].finished();  // room() knows it then
        const std::size_t room = workers[fewest].room(depth);
        return 2 * room >= depth ? run_of(fewest, room, depth) : Grant{};
    }
    /// From the next in the circle on.
    [[nodiscard]] Grant to_the_least_loaded(std::span<const FarmWorker<T>> workers,
                                            std::size_t depth) const {
        Grant best;
        std::size_t most_room = 0;
        for (std::size_t i = 0, worker = next_; i < workers.size(); ++i) {
            const std::size_t room = workers[worker].room(depth);
            if (room > most_room) {
                best = run_of(worker, room, depth);
                most_room = room;
                if (room == depth) break;
            }
            worker = next_of(worker, workers.size());
        }
        return best;
    }

    std::size_t next_ = 0;
    std::vector<std::uint64_t> given_;  // tasks, by worker
};

template <class T>
class CircleScheduler final : public Scheduler<T> {
  public:
    explicit CircleScheduler(std::size_t depth) : depth_(depth) {}

    Grant grant(const T& /*task*/, std::span<const FarmWorker<T>> workers) override {
        if (next_ >= workers.size()) next_ = 0;
        for (std::size_t i = 0; i < workers.size(); ++i) {
            const std::size_t worker = std::exchange(next_, next_of(next_, workers.size()));
            const FarmWorker<T>& one = workers[worker];
            if (one.room(std::min(depth_, one.capacity())) != 0) return {worker, 1};
        }
        return {};
    }

  private:
    std::size_t depth_;
    std::size_t next_ = 0;
};

template <class T>
class LeastLoadedScheduler final : public Scheduler<T> {
  public:
    Grant grant(const T& /*task*/, std::span<const FarmWorker<T>> workers) override {
        if (next_ >= workers.size()) next_ = 0;
        Grant best;
        std::size_t least = 0;
        for (std::size_t i = 0, worker = next_; i < workers.size(); ++i) {
            const FarmWorker<T>& one = workers[worker];
            const std::size_t waiting = one.waiting();
            if (one.room() != 0 && (best.tasks == 0 || waiting < least)) {
                best = {worker, 1};
                least = waiting;
            }
            worker = next_of(worker, workers.size());
        }
        if (best.tasks != 0) next_ = next_of(best.worker, workers.size());
        return best;
    }

  private:
    std::size_t next_ = 0;
};

/// The weights of what has not been finished, by worker.
template <class T, class WeightOf>
class WeightedScheduler final : public Scheduler<T> {
  public:
    explicit WeightedScheduler(WeightOf weight_of) : weight_of_(std::move(weight_of)) {}

    Grant grant(const T& task, std::span<const FarmWorker<T>> workers) override {
        if (loads_.size() < workers.size()) loads_.resize(workers.size());
        std::size_t best = workers.size();
        for (std::size_t worker = 0; worker < workers.size(); ++worker) {
            const FarmWorker<T>& one = workers[worker];
            loads_[worker].finished(one.finished(), one.capacity());
            if (one.room() == 0) continue;
            if (best == workers.size() || loads_[worker].sum < loads_[best].sum) best = worker;
        }
        if (best == workers.size()) return {};
        loads_[best].add(std::invoke(weight_of_, task), workers[best].capacity());
        return {best, 1};
    }

  private:
    struct Load {
        std::vector<double> weights;  // of the last tasks, by number modulo the queue's capacity
        std::uint64_t added = 0;
        std::uint64_t taken = 0;
        double sum = 0;

        void add(double weight, std::size_t capacity) {
            weights.resize(capacity);
            weights[added++ % capacity] = weight;
            sum += weight;
        }
        void finished(std::uint64_t count, std::size_t capacity) {
            for (; taken < count; ++taken) sum -= weights[taken % capacity];
            if (taken == added) sum = 0;  // what rounding has left
        }
    };

    WeightOf weight_of_;
    std::vector<Load> loads_;
};

/// To the worker that a function of the task and the loads names, when that has room.
template <class T, class Choose>
class ChosenScheduler final : public Scheduler<T> {
  public:
    explicit ChosenScheduler(Choose choose) : choose_(std::move(choose)) {}

    Grant grant(const T& task, std::span<const FarmWorker<T>> workers) override {
        // A task that waits for room keeps its worker: its function is asked once.
        if (!waits_) {
            waiting_.resize(workers.size());
            for (std::size_t i = 0; i < workers.size(); ++i) {
                waiting_[i] = workers[i].waiting();
            }
            worker_ = choose_(task, Loads(waiting_));
            if (worker_ >= workers.size()) throw_no_such_worker(worker_, workers.size());
        }
        waits_ = workers[worker_].room() == 0;
        return {worker_, waits_ ? 0U : 1U};
    }

  private:
    Choose choose_;
    std::vector<std::size_t> waiting_;
    std::size_t worker_ = 0;
    bool waits_ = false;
};

template <class T>
class Broadcaster final : public Multicaster<T> {
  public:
    void choose(const T& /*task*/, std::size_t workers, std::vector<std::size_t>& chosen) override {
        for (std::size_t i = 0; i < workers; ++i) chosen.push_back(i);
    }
};

template <class T, class Choose>
class ChosenMulticaster final : public Multicaster<T> {
  public:
    explicit ChosenMulticaster(Choose choose) : choose_(std::move(choose)) {}

    void choose(const T& task, std::size_t workers, std::vector<std::size_t>& chosen) override {
        for (const std::size_t worker : choose_(task, workers)) {
            if (worker >= workers) throw_no_such_worker(worker, workers);
            if (std::find(chosen.begin(), chosen.end(), worker) == chosen.end()) {
                chosen.push_back(worker);
            }
        }
    }

  private:
    Choose choose_;
};

}  // namespace detail

}  // namespace strid::pattern
