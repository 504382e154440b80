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
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <strid/base/hash.hpp>
#include <strid/engine/pattern/schedulers.hpp>
#include <strid/pattern/scheduler.hpp>

namespace strid::pattern {

/// `scheduler<T>()` makes the scheduler of one node.
struct Adaptive {
    /// For one node that distributes tasks of `T`.
    template <class T>
    [[nodiscard]] std::unique_ptr<Scheduler<T>> scheduler() const {
        return std::make_unique<detail::AdaptiveScheduler<T>>();
    }
};

/// Each worker in turn.
struct RoundRobin {
    /// For one node that distributes tasks of `T`.
    template <class T>
    [[nodiscard]] std::unique_ptr<Scheduler<T>> scheduler() const {
        return std::make_unique<detail::CircleScheduler<T>>(std::size_t{1} << 32U);
    }
};

/// The next worker that has room for one more than it works on.
struct OnDemand {
    /// Tasks that a worker has at most, the one that it works on among them; at least 1.
    std::size_t depth = 2;

    /// For one node that distributes tasks of `T`.
    template <class T>
    [[nodiscard]] std::unique_ptr<Scheduler<T>> scheduler() const {
        return std::make_unique<detail::CircleScheduler<T>>(std::max<std::size_t>(depth, 1));
    }
};

/// The worker with the fewest tasks that are not finished.
struct LeastLoaded {
    /// For one node that distributes tasks of `T`.
    template <class T>
    [[nodiscard]] std::unique_ptr<Scheduler<T>> scheduler() const {
        return std::make_unique<detail::LeastLoadedScheduler<T>>();
    }
};

/// `double weight_of(const Task&)`, at least 0, in any unit.
template <class WeightOf>
struct Weighted {
    WeightOf weight_of;  ///< Called once for each task, by the thread of the node.

    /// For one node that distributes tasks of `T`.
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

    /// For one node that distributes tasks of `T`.
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

namespace detail {
template <class Policy>
inline constexpr bool is_by_key = false;
template <class KeyOf>
inline constexpr bool is_by_key<ByKey<KeyOf>> = true;
}  // namespace detail

/// `std::size_t choose(const Task&, const Loads&)`, the number of a worker. A state of its own is
/// that of one node which hands out tasks.
template <class Choose>
struct Chosen {
    Choose choose;  ///< Called once for each task; see Loads.

    /// For one node that distributes tasks of `T`.
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
    /// For one node that distributes tasks of `T`.
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

    /// For one node that distributes tasks of `T`.
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
