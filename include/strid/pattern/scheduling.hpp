// SPDX-License-Identifier: Apache-2.0
//
// The policies of farms: which worker gets a task (paper 4, section 1.2.1.3). A policy is an
// argument of a farm; each node that distributes tasks has its own scheduler, made by the policy:
//
//     Adaptive     to the worker with the least to do; long tasks do not wait for one worker,
//                  short ones go in runs. The default.
//     RoundRobin   in a circle that skips workers whose queue is full
//     OnDemand     to a worker that has no more than `depth` tasks
//     LeastLoaded  to the worker with the fewest tasks that wait
//     Weighted     to the worker with the least sum of weights, which a function says of each task
//     ByKey        all tasks with equal keys to one worker
//     Chosen       to the worker that a function of the user's names
//     Broadcast    a copy to each worker
//     Multicast    copies to the workers that a function of the user's names
//
// A scheduler is used by the thread that steps its node.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <strid/base/hash.hpp>
#include <strid/pattern/lane.hpp>
#include <strid/pattern/workers_in_use.hpp>

namespace strid::pattern {

/// One worker for a scheduler.
template <class T>
struct Destination {
    Lane<T>* lane;  ///< The lane that leads there.
    /// How long a task takes there, in nanoseconds, lately; 0: none has been done.
    const std::atomic<std::int64_t>* task_ns;
};

/// Tasks that may go to one worker without asking again; none: the node waits for room.
struct Grant {
    std::size_t worker = 0;  ///< Which worker.
    std::size_t tasks = 0;   ///< How many tasks.
};

/// Chooses a worker for the tasks of one node. Made by a policy's `scheduler()`; used by one
/// thread.
template <class T>
class Scheduler {
  public:
    virtual ~Scheduler() = default;
    /// Where the task goes, and so many after it. `workers` are those that are in use, the first of
    /// all: how many may change between two calls. Every worker that it looked at and refused wakes
    /// the node once half of its queue is free.
    virtual Grant grant(const T& task, std::span<const Destination<T>> workers) = 0;
};

/// Hands each task to several workers.
template <class T>
class Multicaster {
  public:
    virtual ~Multicaster() = default;
    /// Adds the numbers of the workers, each once.
    virtual void choose(const T& task, std::size_t workers, std::vector<std::size_t>& chosen) = 0;
};

/// The loads of all workers, for a user's function that chooses one.
class Loads {
  public:
    /// `waiting[i]` tasks are not finished by worker i.
    explicit Loads(std::span<const std::size_t> waiting) : waiting_(waiting) {}
    /// How many workers there are.
    [[nodiscard]] std::size_t workers() const noexcept { return waiting_.size(); }
    /// Tasks that the worker has not finished.
    [[nodiscard]] std::size_t waiting(std::size_t worker) const { return waiting_[worker]; }

  private:
    std::span<const std::size_t> waiting_;
};

namespace detail {

/// Throws GraphError where a farm cannot have another number of workers in use: by a policy for
/// which each worker has its own tasks, or by the load that several nodes see.
void check_in_use(const WorkersInUse& in_use, bool any_worker, std::size_t nodes);
/// Throws GraphError.
[[noreturn]] void throw_no_such_worker(std::size_t worker, std::size_t workers);

[[nodiscard]] inline std::size_t next_of(std::size_t worker, std::size_t count) noexcept {
    return worker + 1 == count ? 0 : worker + 1;
}

template <class T>
class AdaptiveScheduler final : public Scheduler<T> {
  public:
    Grant grant(const T& /*task*/, std::span<const Destination<T>> workers) override {
        if (next_ >= workers.size()) next_ = 0;
        // The one with the least to do that may have more, from the next in the circle on.
        Grant best;
        double best_load = 0;
        for (std::size_t i = 0, worker = next_; i < workers.size(); ++i) {
            const std::size_t depth = depth_of(workers[worker]);
            const std::size_t room = workers[worker].lane->room(depth);
            const double load = static_cast<double>(depth - room) / static_cast<double>(depth);
            if (room != 0 && (best.tasks == 0 || load < best_load)) {
                best = {worker, std::min(room, std::max<std::size_t>(depth / runs_in_queue, 1))};
                best_load = load;
                if (depth == room) break;
            }
            worker = next_of(worker, workers.size());
        }
        if (best.tasks != 0) next_ = next_of(best.worker, workers.size());
        return best;
    }

  private:
    // Waiting tasks take this long in all, so that the last tasks of a stream keep all workers
    // busy; two tasks at least, so that a worker need not wait for the next one.
    static constexpr std::int64_t queue_ns = 100'000;
    static constexpr std::size_t runs_in_queue = 4;

    [[nodiscard]] static std::size_t depth_of(const Destination<T>& worker) noexcept {
        const std::int64_t task_ns = worker.task_ns->load(std::memory_order_relaxed);
        const std::size_t most = worker.lane->capacity();
        if (task_ns == 0) return std::min<std::size_t>(most, 2);
        const auto depth = static_cast<std::size_t>(queue_ns / std::max<std::int64_t>(task_ns, 1));
        return std::clamp<std::size_t>(depth, std::min<std::size_t>(most, 2), most);
    }

    std::size_t next_ = 0;
};

template <class T>
class CircleScheduler final : public Scheduler<T> {
  public:
    explicit CircleScheduler(std::size_t depth) : depth_(depth) {}

    Grant grant(const T& /*task*/, std::span<const Destination<T>> workers) override {
        if (next_ >= workers.size()) next_ = 0;
        for (std::size_t i = 0; i < workers.size(); ++i) {
            const std::size_t worker = std::exchange(next_, next_of(next_, workers.size()));
            Lane<T>& lane = *workers[worker].lane;
            if (lane.room(std::min(depth_, lane.capacity())) != 0) return {worker, 1};
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
    Grant grant(const T& /*task*/, std::span<const Destination<T>> workers) override {
        if (next_ >= workers.size()) next_ = 0;
        Grant best;
        std::size_t least = 0;
        for (std::size_t i = 0, worker = next_; i < workers.size(); ++i) {
            Lane<T>& lane = *workers[worker].lane;
            const std::size_t waiting = lane.waiting();
            if (lane.room() != 0 && (best.tasks == 0 || waiting < least)) {
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

    Grant grant(const T& task, std::span<const Destination<T>> workers) override {
        if (loads_.size() < workers.size()) loads_.resize(workers.size());
        std::size_t best = workers.size();
        for (std::size_t worker = 0; worker < workers.size(); ++worker) {
            Lane<T>& lane = *workers[worker].lane;
            loads_[worker].finished(lane.taken(), lane.capacity());
            if (lane.room() == 0) continue;
            if (best == workers.size() || loads_[worker].sum < loads_[best].sum) best = worker;
        }
        if (best == workers.size()) return {};
        loads_[best].add(std::invoke(weight_of_, task), workers[best].lane->capacity());
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

    Grant grant(const T& task, std::span<const Destination<T>> workers) override {
        // A task that waits for room keeps its worker: its function is asked once.
        if (!waits_) {
            waiting_.resize(workers.size());
            for (std::size_t i = 0; i < workers.size(); ++i) {
                waiting_[i] = workers[i].lane->waiting();
            }
            worker_ = choose_(task, Loads(waiting_));
            if (worker_ >= workers.size()) throw_no_such_worker(worker_, workers.size());
        }
        waits_ = workers[worker_].lane->room() == 0;
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

// ---- policies ----------------------------------------------------------------------------------

/// `scheduler<T>()` makes the scheduler of one node.
struct Adaptive {
    template <class T>
    [[nodiscard]] std::unique_ptr<Scheduler<T>> scheduler() const {
        return std::make_unique<detail::AdaptiveScheduler<T>>();
    }
};

/// Each worker in turn.
struct RoundRobin {
    template <class T>
    [[nodiscard]] std::unique_ptr<Scheduler<T>> scheduler() const {
        return std::make_unique<detail::CircleScheduler<T>>(std::size_t{1} << 32U);
    }
};

/// The next worker that has room for one more than it works on.
struct OnDemand {
    /// Tasks that a worker has at most, the one that it works on among them; at least 1.
    std::size_t depth = 2;

    template <class T>
    [[nodiscard]] std::unique_ptr<Scheduler<T>> scheduler() const {
        return std::make_unique<detail::CircleScheduler<T>>(std::max<std::size_t>(depth, 1));
    }
};

/// The worker with the fewest tasks that are not finished.
struct LeastLoaded {
    template <class T>
    [[nodiscard]] std::unique_ptr<Scheduler<T>> scheduler() const {
        return std::make_unique<detail::LeastLoadedScheduler<T>>();
    }
};

/// `double weight_of(const Task&)`, at least 0, in any unit.
template <class WeightOf>
struct Weighted {
    WeightOf weight_of;  ///< Called once for each task, by the thread of the node.

    template <class T>
        requires std::invocable<const WeightOf&, const T&>
    [[nodiscard]] std::unique_ptr<Scheduler<T>> scheduler() const {
        return std::make_unique<detail::WeightedScheduler<T, WeightOf>>(weight_of);
    }
};
template <class WeightOf>
Weighted(WeightOf) -> Weighted<WeightOf>;

/// `key_of(const Task&)`, something that `hash_of` takes.
template <class KeyOf>
struct ByKey {
    KeyOf key_of;  ///< Called once for each task: tasks of one key go to the same worker.

    template <class T>
        requires std::invocable<const KeyOf&, const T&>
    [[nodiscard]] std::unique_ptr<Scheduler<T>> scheduler() const {
        auto worker_of = [key_of = key_of](const T& task, const Loads& loads) {
            return static_cast<std::size_t>(hash_of(std::invoke(key_of, task)) % loads.workers());
        };
        return std::make_unique<detail::ChosenScheduler<T, decltype(worker_of)>>(
            std::move(worker_of));
    }
};
template <class KeyOf>
ByKey(KeyOf) -> ByKey<KeyOf>;

template <class Policy>
inline constexpr bool is_by_key = false;
template <class KeyOf>
inline constexpr bool is_by_key<ByKey<KeyOf>> = true;

/// `std::size_t choose(const Task&, const Loads&)`, the number of a worker. A state of its own is
/// that of one node which hands out tasks.
template <class Choose>
struct Chosen {
    Choose choose;  ///< Called once for each task; see Loads.

    template <class T>
        requires std::is_invocable_r_v<std::size_t, Choose&, const T&, const Loads&>
    [[nodiscard]] std::unique_ptr<Scheduler<T>> scheduler() const {
        return std::make_unique<detail::ChosenScheduler<T, Choose>>(choose);
    }
};
template <class Choose>
Chosen(Choose) -> Chosen<Choose>;

/// Tasks that can be copied.
struct Broadcast {
    template <std::copy_constructible T>
    [[nodiscard]] std::unique_ptr<Multicaster<T>> multicaster() const {
        return std::make_unique<detail::Broadcaster<T>>();
    }
};

/// `choose(const Task&, std::size_t workers)`, a range of numbers of workers; none: the task goes
/// nowhere.
template <class Choose>
struct Multicast {
    Choose choose;  ///< Called once for each task; see Loads.

    template <std::copy_constructible T>
        requires std::invocable<Choose&, const T&, std::size_t>
    [[nodiscard]] std::unique_ptr<Multicaster<T>> multicaster() const {
        return std::make_unique<detail::ChosenMulticaster<T, Choose>>(choose);
    }
};
template <class Choose>
Multicast(Choose) -> Multicast<Choose>;

/// A policy of this header, or one like them.
template <class P, class T>
concept PolicyFor = requires(const P& policy) {
    { policy.template scheduler<T>() } -> std::convertible_to<std::unique_ptr<Scheduler<T>>>;
} || requires(const P& policy) {
    { policy.template multicaster<T>() } -> std::convertible_to<std::unique_ptr<Multicaster<T>>>;
};

}  // namespace strid::pattern
