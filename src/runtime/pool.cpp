// SPDX-License-Identifier: Apache-2.0
#include "pool.hpp"

#include <bit>

#include "worker.hpp"

namespace strid::runtime {

std::shared_ptr<Pool> Pool::create(std::span<const Member> members, std::size_t workers) {
    std::shared_ptr<Pool> pool(new Pool(members, workers));
    for (Slot& slot : pool->slots()) {
        slot.task->pool_ = pool;
        // Release: pairs with the acquire in Task::notify() and Task::counters().
        slot.task->slot_.store(&slot, std::memory_order_release);
    }
    return pool;
}

bool Pool::has_slot(const Task& task) noexcept {
    return task.slot_.load(std::memory_order_relaxed) != nullptr;
}

Pool::Pool(std::span<const Member> members, std::size_t workers)
    : homes_(workers),
      slots_(std::make_unique<Slot[]>(members.size())),
      slot_count_(members.size()),
      parking_lot_(workers),
      unfinished_(members.size()) {
    for (const Member& member : members) ++homes_[member.home].tasks;
    std::uint32_t slots = 0;
    std::uint32_t groups = 0;
    for (Home& home : homes_) {
        home.groups_begin = groups;
        home.slots_begin = slots;
        groups += (home.tasks + TaskStates::capacity - 1) / TaskStates::capacity;
        slots += home.tasks;
    }
    group_count_ = groups;
    groups_ = std::make_unique<TaskStates[]>(group_count_);
    std::vector<std::uint32_t> filled(workers, 0);
    for (const Member& member : members) {
        const Home& home = homes_[member.home];
        const std::uint32_t number = filled[member.home]++;
        Slot& slot = slots_[home.slots_begin + number];
        slot.task = member.task;
        slot.pool = this;
        slot.states = &groups_[home.groups_begin + number / TaskStates::capacity];
        slot.bit = number % TaskStates::capacity;
        slot.home = member.home;
        slot.at_home = number;
        slot.rank = member.rank;
        static_cast<void>(slot.states->notify(slot.bit));  // every task begins ready
    }
}

void Pool::notify(Slot& slot) noexcept {
    if (!slot.states->notify(slot.bit)) return;
    Worker* worker = Worker::current();
    // A worker of this pool is awake and looks at every task before it sleeps: nothing is lost.
    if (worker != nullptr && worker->works_for(*this)) {
        worker->made_ready(slot);
    } else if (!parking_lot_.searching()) {
        parking_lot_.wake_one(slot.home);
    }
}

bool Pool::claim(Slot& slot) noexcept {
    if (!slot.states->try_claim(slot.bit)) return false;
    if (slot.deadline_ns.load(std::memory_order_relaxed) != never_ns) {
        slot.deadline_ns.store(never_ns, std::memory_order_relaxed);
    }
    return true;
}

Slot* Pool::claim_between(std::size_t home_number, std::uint32_t low, std::uint32_t high) noexcept {
    const Home& home = homes_[home_number];
    while (high > low) {
        const std::uint32_t group = (high - 1) / TaskStates::capacity;
        const std::uint32_t base = group * TaskStates::capacity;
        const std::uint32_t below = high - base;  // 1 to 32
        std::uint32_t ready = groups_[home.groups_begin + group].claimable();
        if (below < TaskStates::capacity) ready &= (std::uint32_t{1} << below) - 1;
        if (ready == 0) {
            high = base;
            continue;
        }
        const std::uint32_t number = base + static_cast<std::uint32_t>(std::bit_width(ready)) - 1;
        if (number < low) return nullptr;
        Slot& slot = slots_[home.slots_begin + number];
        if (claim(slot)) return &slot;
        high = number;
    }
    return nullptr;
}

Slot* Pool::claim_anywhere(std::size_t worker) noexcept {
    for (std::size_t i = 0; i < homes_.size(); ++i) {
        const std::size_t home = (worker + i) % homes_.size();
        if (Slot* slot = claim_between(home, 0, homes_[home].tasks)) return slot;
    }
    return nullptr;
}

bool Pool::any_ready_of(std::size_t home_number) const noexcept {
    const Home& home = homes_[home_number];
    for (std::uint32_t first = 0; first < home.tasks; first += TaskStates::capacity) {
        if (groups_[home.groups_begin + first / TaskStates::capacity].claimable() != 0) return true;
    }
    return false;
}

bool Pool::any_ready() const noexcept {
    for (std::size_t i = 0; i < group_count_; ++i) {
        if (groups_[i].claimable() != 0) return true;
    }
    return false;
}

// The arming thread writes the deadline and then reads the minimum; the firing thread takes the
// minimum down and then reads the deadlines. All four are sequentially consistent, so one of the
// two sees the other.
void Pool::arm(Slot& slot, std::int64_t at_ns) noexcept {
    slot.deadline_ns.store(at_ns, std::memory_order_seq_cst);  // pairs with fire_timers()
    lower_next_deadline(at_ns);
}

void Pool::lower_next_deadline(std::int64_t at_ns) noexcept {
    std::int64_t next = next_deadline_ns_.load(std::memory_order_seq_cst);
    while (at_ns < next &&
           !next_deadline_ns_.compare_exchange_weak(next, at_ns, std::memory_order_seq_cst)) {
    }
}

void Pool::fire_timers(std::int64_t now) noexcept {
    std::int64_t next = next_deadline();
    if (next > now) return;
    // Pairs with arm(). The thread that takes the minimum down walks the slots.
    if (!next_deadline_ns_.compare_exchange_strong(next, never_ns, std::memory_order_seq_cst)) {
        return;
    }
    for (Slot& slot : slots()) {
        std::int64_t deadline = slot.deadline_ns.load(std::memory_order_seq_cst);
        if (deadline == never_ns) continue;
        if (deadline > now) {
            lower_next_deadline(deadline);
        } else if (slot.deadline_ns.compare_exchange_strong(deadline, never_ns,
                                                            std::memory_order_seq_cst)) {
            notify(slot);
        }
    }
}

void Pool::task_finished() noexcept {
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) end();  // pairs with itself
}

void Pool::end() noexcept {
    ending_.store(true, std::memory_order_seq_cst);  // pairs with ending() after announce()
    parking_lot_.wake_all();
}

}  // namespace strid::runtime
