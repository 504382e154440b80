// SPDX-License-Identifier: Apache-2.0
//
// The ends of a node: an Input takes tasks from its lanes in turn, an Output hands tasks to the
// lanes that a scheduler chooses. A node whose task finds no room keeps it in its overflow and
// begins no other task before that is out: so what one task makes is all that a node holds.
//
// Threads: only the thread that steps the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <strid/engine/pattern/lane.hpp>
#include <strid/pattern/scheduler.hpp>
#include <strid/pattern/scheduling.hpp>
#include <strid/pattern/workers_in_use.hpp>

namespace strid::pattern {

/// So many tasks in a row that one worker got: what an ordered farm's results are gathered by.
struct Run {
    std::uint32_t worker = 0;
    std::uint32_t tasks = 0;
};

template <TaskType T>
class Input {
  public:
    /// Before the run.
    void add(Lane<T>& lane) {
        all_.push_back(&lane);
        open_.push_back(&lane);
    }

    /// Before the run (LaneEnds::set_watchers).
    void set_watchers(Watchers& watchers) noexcept {
        for (Lane<T>* lane : all_) lane->set_watchers(watchers);
    }

    /// Up to `count` tasks of the lane whose turn it is; none where all lanes are empty.
    [[nodiscard]] std::span<T> peek(std::size_t count) noexcept {
        for (std::size_t looked = 0, lanes = open_.size(); looked < lanes; ++looked) {
            Lane<T>& lane = *open_[turn_];
            if (const std::span<T> tasks = lane.peek(count); !tasks.empty()) return tasks;
            if (lane.drained()) {
                open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(turn_));
                if (turn_ == open_.size()) turn_ = 0;
            } else {
                end_turn();
            }
        }
        return {};
    }
    /// Gives back the first of them; the next peek is another lane's turn.
    void release(std::size_t count) noexcept {
        open_[turn_]->release(count);
        end_turn();
    }
    /// Before the node waits for tasks.
    void rest() noexcept {
        for (Lane<T>* lane : open_) lane->rest();
    }
    /// After a peek that found nothing: no task will ever come.
    [[nodiscard]] bool ended() const noexcept { return open_.empty(); }
    /// Any thread: a guess.
    [[nodiscard]] bool waiting() const noexcept {
        return std::any_of(all_.begin(), all_.end(),
                           [](const Lane<T>* lane) { return !lane->empty(); });
    }

  private:
    void end_turn() noexcept { turn_ = detail::next_of(turn_, open_.size()); }

    std::vector<Lane<T>*> all_;
    std::vector<Lane<T>*> open_;
    std::size_t turn_ = 0;
};

template <TaskType T>
class Output {
  public:
    /// Before the run. `task_ns` is how long a task takes the consumer.
    void add(Lane<T>& lane, const std::atomic<std::int64_t>& task_ns) {
        workers_.emplace_back(lane, task_ns);
    }
    void schedule(std::unique_ptr<Scheduler<T>> scheduler) { scheduler_ = std::move(scheduler); }
    void schedule(std::unique_ptr<Multicaster<T>> multicaster) {
        multicaster_ = std::move(multicaster);
    }
    void use(const WorkersInUse& in_use) { in_use_ = in_use; }

    /// Writes down which worker got which tasks. Before the run.
    void keep_order(Lane<Run>& order) { order_ = &order; }

    /// How many tasks the consumers may see together: more than one only where tasks are so short
    /// that those before a slow one need not be seen at once.
    void hand_on_together(std::size_t tasks) noexcept { together_ = tasks; }

    /// Whether another task may be begun: nothing is in the overflow.
    [[nodiscard]] bool ready() const noexcept { return overflow_next_ == overflow_.size(); }

    /// Hands a task to a lane, or keeps it where none has room.
    [[gnu::always_inline]] void emit(T&& task) {
        if (next_ != end_) [[likely]] {
            *next_++ = std::move(task);
        } else {
            emit_slowly(std::move(task));
        }
    }
    /// Hands on what is kept; true when nothing is left.
    bool settle() {
        for (; overflow_next_ != overflow_.size(); ++overflow_next_) {
            if (!place(overflow_[overflow_next_])) return false;
        }
        overflow_.clear();
        overflow_next_ = 0;
        return true;
    }
    /// The flag by which consumers wake the node.
    [[nodiscard]] RoomWait& room_wait() noexcept { return room_wait_; }
    /// Whether the node waits for room: from now on a consumer wakes it, and there is still none.
    [[nodiscard]] bool must_wait() {
        room_wait_.set();
        const bool all_out = settle();
        announce();  // some may have found room
        return !all_out;
    }

    /// The consumer sees the tasks that were written into the slots that are claimed.
    void commit() noexcept {
        if (first_ == nullptr) return;
        const auto count = static_cast<std::size_t>(next_ - first_);
        workers_[granted_.worker].lane_->commit(count);
        granted_.tasks -= count;
        if (order_ != nullptr) run_.tasks += static_cast<std::uint32_t>(count);
        first_ = next_ = end_ = nullptr;
    }
    /// Wakes those that something was handed to.
    void announce() noexcept {
        commit();
        if (order_ != nullptr) {
            write_order();
            order_->announce();
        }
        for (const auto& worker : workers_) worker.lane_->announce();
    }
    /// Nothing follows.
    void close() noexcept {
        commit();
        if (order_ != nullptr) {
            write_order();
            order_->close();
        }
        for (const auto& worker : workers_) worker.lane_->close();
    }

  private:
    void emit_slowly(T&& task) {
        if (!ready() || !place(task)) overflow_.push_back(std::move(task));
    }
    bool place(T& task) {
        commit();
        if (granted_.tasks == 0) {
            if (multicaster_ != nullptr) return place_copies(task);
            granted_ = next_grant(task);
            if (granted_.tasks == 0) return false;
        }
        if (order_ != nullptr && !has_room_in_order()) return false;
        const std::span<T> slots = workers_[granted_.worker].lane_->claim(
            std::min<std::size_t>(granted_.tasks, together_));
        slots.front() = std::move(task);
        first_ = slots.data();
        next_ = first_ + 1;
        end_ = first_ + slots.size();
        if (next_ == end_) commit();
        return true;
    }
    /// The next tasks go to the worker that was granted; false where there is no room to write that
    /// down. Room for the run that is being counted has been kept since it began.
    [[nodiscard]] bool has_room_in_order() noexcept {
        if (run_.tasks != 0 && run_.worker != granted_.worker) write_order();
        if (run_.tasks == 0 && order_->room() == 0) return false;
        run_.worker = static_cast<std::uint32_t>(granted_.worker);
        return true;
    }
    void write_order() noexcept {
        if (run_.tasks == 0) return;
        order_->claim(1).front() = std::exchange(run_, Run{});
        order_->commit(1);
    }
    [[nodiscard]] Grant next_grant(const T& task) {
        if (workers_.size() == 1) return {0, workers_.front().room()};
        if (in_use_) return next_grant_in_use(task);
        return scheduler_->grant(task, workers_);
    }
    /// Asks the scheduler for one of the workers that are in use.
    [[nodiscard]] Grant next_grant_in_use(const T& task) {
        const std::span<const FarmWorker<T>> all = workers_;
        std::size_t count = std::clamp<std::size_t>(in_use_->now(), 1, all.size());
        Grant grant = scheduler_->grant(task, all.first(count));
        if (!in_use_->goes_by_load()) return grant;
        if (grant.tasks == 0 && count < all.size()) {
            in_use_->set(++count);
            spared_ = 0;
            return scheduler_->grant(task, all.first(count));
        }
        // One worker fewer would have had no task that waits for another.
        std::size_t waiting = 0;
        for (const auto& worker : all.first(count)) waiting += worker.waiting();
        spared_ = waiting + 1 < count ? spared_ + std::max<std::size_t>(grant.tasks, 1) : 0;
        if (spared_ >= tasks_before_fewer && count > in_use_->at_least()) {
            in_use_->set(count - 1);
            spared_ = 0;
        }
        return grant;
    }
    /// To all that were chosen, or to none.
    bool place_copies(T& task) {
        if constexpr (std::copy_constructible<T>) {
            if (!chosen_is_of_task_) {
                chosen_.clear();
                multicaster_->choose(task, workers_.size(), chosen_);
            }
            chosen_is_of_task_ = true;
            for (const std::size_t worker : chosen_) {
                if (workers_[worker].room() == 0) return false;
            }
            chosen_is_of_task_ = false;
            for (std::size_t i = 0; i < chosen_.size(); ++i) {
                Lane<T>& lane = *workers_[chosen_[i]].lane_;
                lane.claim(1).front() =
                    i + 1 == chosen_.size() ? std::move(task) : T(std::as_const(task));
                lane.commit(1);
            }
        }
        return true;
    }

    static constexpr std::size_t tasks_before_fewer = 1'024;

    std::vector<FarmWorker<T>> workers_;
    std::optional<WorkersInUse> in_use_;
    std::size_t spared_ = 0;  // tasks for which one worker fewer would have done
    std::unique_ptr<Scheduler<T>> scheduler_;
    std::unique_ptr<Multicaster<T>> multicaster_;
    Grant granted_;
    std::size_t together_ = 1;
    // Slots of the lane that was granted: those from the first to the next are filled. None: null.
    T* first_ = nullptr;
    T* next_ = nullptr;
    T* end_ = nullptr;
    Lane<Run>* order_ = nullptr;
    Run run_;
    std::vector<T> overflow_;  // from the next on
    std::size_t overflow_next_ = 0;
    std::vector<std::size_t> chosen_;
    bool chosen_is_of_task_ = false;
    RoomWait room_wait_;
};

}  // namespace strid::pattern
