// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include <sched.h>
#include <sys/prctl.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/base/topology.hpp>
#include <strid/engine/base/relax.hpp>

namespace strid::runtime {

namespace {

// Every eighth pick takes turns; after as many busy picks in a row a worker wakes another.
constexpr std::uint64_t turn_period = 8;
// A step as long as this is worth a system call and a wake-up (some 2 and 50 us). A step that took
// far longer than others had lost its core, and counts as this at most: one such step is no reason
// yet.
constexpr std::int64_t long_step_ns = 50'000;
constexpr std::int64_t counted_step_ns = 4 * long_step_ns;
// The length of a task's next step is unknown before this many: the first steps find no work.
constexpr std::uint64_t steps_until_known = 8;
// How long to search for work before sleeping. Falling asleep and waking up costs the least of
// this. It is the most when other workers must see that there is too much work. A worker that was
// woken sooner than that should not have slept, and searches longer the next time.
constexpr std::int64_t spin_least_ns = 20'000;
constexpr std::int64_t spin_most_ns = 160'000;
// With more threads than cores a search gives the core away after each look, and ends after this
// many: the producers fill the ring meanwhile, and the thread finds many batches where it would be
// woken for one. Spinning would keep the core from them.
constexpr int yields_most = 4;
// A sleep for a timer ends this much early, and the rest is spun: punctual to a microsecond.
constexpr std::int64_t alarm_margin_ns = 80'000;

thread_local Worker* current_worker = nullptr;

/// A step of the task is likely to be long, or may be, for all that is known.
bool may_take_long(const Slot& slot) noexcept {
    return slot.step_ns_mean >= long_step_ns ||
           slot.steps.load(std::memory_order_relaxed) < steps_until_known;
}

std::exception_ptr out_of_memory(const Task& task) noexcept {
    try {
        return std::make_exception_ptr(Error("task '" + task.name() + "': out of memory"));
    } catch (...) {
        return std::current_exception();
    }
}

}  // namespace

Worker::Worker(Pool& pool, Host& host, Settings settings)
    : pool_(pool),
      host_(host),
      parking_lot_(pool.parking_lot()),
      settings_(std::move(settings)),
      spin_ns_(spin_least_ns) {}

Worker* Worker::current() noexcept {
    return current_worker;
}

Worker::AtWork::AtWork(Worker& worker) noexcept : before_(std::exchange(current_worker, &worker)) {}

Worker::AtWork::~AtWork() {
    current_worker = before_;
}

void Worker::settle() noexcept {
    prctl(PR_SET_TIMERSLACK, 1UL);  // wake for timers when they are due, not when convenient
    // A refusal (the mask was narrowed meanwhile) costs speed only.
    if (settings_.begin_on >= 0) {
        const std::vector<int> anywhere = current_affinity();
        if (pin_current_thread(settings_.begin_on)) (void)bind_current_thread(anywhere);
    }
    if (!settings_.processors.empty() && bind_current_thread(settings_.processors) &&
        settings_.processors.size() == 1) {
        processor_.store(settings_.processors.front(), std::memory_order_relaxed);
    }
    now_ns_ = now_ns();
    started_ns_.store(now_ns_, std::memory_order_relaxed);
}

void Worker::run() noexcept {
    settle();
    const AtWork at_work(*this);
    Slot* current = nullptr;  // progressed and still claimed
    while (!pool_.ending()) {
        Slot* next = go_on_with(current);
        if (next == nullptr) next = search();
        if (next == nullptr) {
            park();
            current = nullptr;
            continue;
        }
        stop_searching();
        share_before(*next);
        current = step(*next) ? next : nullptr;
    }
    ended_ns_.store(now_ns(), std::memory_order_relaxed);
}

bool Worker::run_ready() noexcept {
    const AtWork at_work(*this);
    now_ns_ = now_ns();
    if (started_ns_.load(std::memory_order_relaxed) == 0) {
        started_ns_.store(now_ns_, std::memory_order_relaxed);
    }
    bool stepped = false;
    Slot* current = nullptr;  // progressed and still claimed
    while (!pool_.ending()) {
        Slot* next = go_on_with(current);
        if (next == nullptr) break;
        current = step(*next) ? next : nullptr;
        stepped = true;
    }
    return stepped;
}

void Worker::made_ready(Slot& slot) noexcept {
    if (stepping_ == nullptr) return;  // a timer fired between two steps
    const bool downstream = slot.rank > stepping_->rank;
    const bool home_parked = slot.home == settings_.number || parking_lot_.is_parked(slot.home);
    if (downstream && home_parked) hot_ = &slot;
    if (may_take_long(*stepping_) && !parking_lot_.searching()) wake(slot.home);
}

// Waking takes long if the other core sleeps deeply. It does not count as the task's own time:
// otherwise a step could be long only because it wakes others for being long.
void Worker::wake(std::size_t preferred) noexcept {
    const std::int64_t began_ns = now_ns();
    parking_lot_.wake_one(preferred);
    const std::int64_t ended_ns = now_ns();
    if (stepping_ == nullptr) {
        now_ns_ = ended_ns;
    } else {
        waking_ns_ += ended_ns - began_ns;
    }
}

Slot* Worker::go_on_with(Slot* current) noexcept {
    if (pool_.next_deadline() <= now_ns_) pool_.fire_timers(now_ns_);
    Slot* const next = pick(current);
    if (current != nullptr && next != current) current->states->release_ready(current->bit);
    return next;
}

Slot* Worker::pick(Slot* current) noexcept {
    ++picks_;
    Slot* next = nullptr;
    if (hot_ != nullptr && picks_ % turn_period != 0) {
        Slot* hot = std::exchange(hot_, nullptr);
        if (Pool::claim(*hot)) next = hot;
    }
    if (next == nullptr) next = pick_own(current);
    if (next == nullptr && current == nullptr) return nullptr;
    const bool left_behind = next != nullptr && current != nullptr && next != current;
    share(left_behind || pool_.any_ready_of(settings_.number));
    return next != nullptr ? next : current;
}

// nullptr: `current`, if there is one, is the best.
Slot* Worker::pick_own(Slot* current) noexcept {
    const std::size_t home = settings_.number;
    const std::uint32_t tasks = pool_.tasks_of(home);
    Slot* next = nullptr;
    if (picks_ % turn_period == 0) {
        next = pool_.claim_between(home, 0, std::min(cursor_, tasks));
        if (next == nullptr) next = pool_.claim_between(home, 0, tasks);
        if (next != nullptr) cursor_ = next->at_home;
        return next;
    }
    const bool current_is_own = current != nullptr && current->home == home;
    return pool_.claim_between(home, current_is_own ? current->at_home + 1 : 0, tasks);
}

// Busy for some time, and leaving ready work behind: more workers are needed.
void Worker::share(bool left_behind) noexcept {
    if (++picks_since_idle_ < turn_period) return;
    if (!parking_lot_.any_parked() || parking_lot_.searching()) return;
    std::size_t whom = settings_.number + 1;
    if (!left_behind) {
        if (picks_since_idle_ % turn_period != 0) return;
        // No worker runs the tasks of a sleeping worker while this one has its own.
        std::size_t home = 0;
        while (home < pool_.workers() &&
               !(parking_lot_.is_parked(home) && pool_.any_ready_of(home))) {
            ++home;
        }
        if (home == pool_.workers()) return;
        whom = home;
    }
    picks_since_idle_ = 0;
    wake(whom % pool_.workers());
}

// A step that may be long is next: leave no ready task and no timer unwatched meanwhile.
void Worker::share_before(const Slot& slot) noexcept {
    if (!may_take_long(slot) || !parking_lot_.any_parked()) return;
    if (parking_lot_.searching()) return;
    // Acquire: pairs with the release in park().
    const std::int64_t alarm = pool_.alarm().load(std::memory_order_acquire);
    if (pool_.next_deadline() < alarm || pool_.any_ready()) {
        wake((settings_.number + 1) % pool_.workers());
    }
}

bool Worker::step(Slot& slot) noexcept {
    const std::int64_t began_ns = now_ns_;
    if (slot.waiting_since_ns != 0) {
        add_relaxed(slot.idle_ns, std::max<std::int64_t>(began_ns - slot.waiting_since_ns, 0));
        slot.waiting_since_ns = 0;
    }
    stepping_ = &slot;
    StepResult result = StepResult::finished;
    try {
        result = slot.task->step(now_ns_);
    } catch (const Interrupted&) {
        stepping_ = nullptr;
        // The run has ended; as below. Thrown before that it is a failure like any other.
        if (!pool_.ending()) host_.task_failed(std::current_exception());
        return false;
    } catch (const std::bad_alloc&) {
        stepping_ = nullptr;
        host_.task_failed(out_of_memory(*slot.task));
        return false;
    } catch (...) {
        stepping_ = nullptr;
        host_.task_failed(std::current_exception());
        return false;  // stays claimed: it never steps again
    }
    stepping_ = nullptr;
    if (now_ns_ == began_ns) now_ns_ = now_ns();
    account(slot, began_ns);
    if (result == StepResult::progressed) return true;
    if (result == StepResult::finished) {
        slot.finished.store(true, std::memory_order_relaxed);
        pool_.task_finished();
        return false;  // stays claimed
    }
    if (result == StepResult::timed) {
        const std::int64_t at_ns = slot.task->wake_at_ns();
        if (at_ns <= now_ns_) return true;
        pool_.arm(slot, at_ns);
    }
    slot.waiting_since_ns = now_ns_;
    add_relaxed<std::uint64_t>(slot.idle_periods, 1);
    static_cast<void>(slot.states->release_waiting(slot.bit));  // this worker looks again anyhow
    return false;
}

void Worker::account(Slot& slot, std::int64_t began_ns) noexcept {
    const std::int64_t took_ns = now_ns_ - began_ns;
    add_relaxed(slot.busy_ns, took_ns);
    add_relaxed<std::uint64_t>(slot.steps, 1);
    const std::int64_t own_ns = took_ns - std::exchange(waking_ns_, 0);
    slot.step_ns_mean += (std::min(own_ns, counted_step_ns) - slot.step_ns_mean) / 8;
    add_relaxed(busy_ns_, took_ns);
    add_relaxed<std::uint64_t>(steps_, 1);
    if (slot.home != settings_.number) add_relaxed<std::uint64_t>(stolen_, 1);
}

// No task of this worker is ready.
Slot* Worker::search() noexcept {
    Slot* found = pool_.claim_anywhere(settings_.number);
    if (found == nullptr) {
        picks_since_idle_ = 0;
        if (!searching_) searching_ = parking_lot_.try_enter_search();
        if (searching_) found = spin();
    }
    stop_searching();
    return found;
}

void Worker::stop_searching() noexcept {
    if (searching_) parking_lot_.leave_search();
    searching_ = false;
}

Slot* Worker::spin() noexcept {
    now_ns_ = now_ns();
    const std::int64_t until_ns = now_ns_ + spin_ns_;
    for (int looks = 0; !pool_.ending(); ++looks) {
        if (pool_.next_deadline() <= now_ns_) pool_.fire_timers(now_ns_);
        if (Slot* slot = pool_.claim_anywhere(settings_.number)) return slot;
        const bool enough = settings_.yields ? looks >= yields_most : now_ns_ >= until_ns;
        if (enough && pool_.next_deadline() - now_ns_ > alarm_margin_ns) break;
        if (settings_.yields) {
            sched_yield();
        } else {
            relax();
        }
        now_ns_ = now_ns();
    }
    return nullptr;
}

void Worker::park() noexcept {
    if (settings_.waiting == ExecutionOptions::Waiting::spin) {
        if (settings_.yields) sched_yield();
        now_ns_ = now_ns();
        return;
    }
    parking_lot_.announce(settings_.number);
    if (pool_.ending() || pool_.any_ready()) {
        searching_ = parking_lot_.retract(settings_.number);
        return;
    }
    // The last worker awake watches the timers. A worker that is still awake checks them after each
    // step, and gets here itself.
    const std::int64_t deadline_ns = pool_.next_deadline();
    std::int64_t until_ns = never_ns;
    if (deadline_ns != never_ns && parking_lot_.all_parked()) {
        until_ns = deadline_ns - alarm_margin_ns;
        // Release: pairs with the acquire in share_before().
        pool_.alarm().store(deadline_ns, std::memory_order_release);
    }
    const std::int64_t asleep_ns = now_ns();
    searching_ = parking_lot_.sleep(settings_.number, until_ns);
    if (until_ns != never_ns) {
        pool_.alarm().store(never_ns, std::memory_order_release);  // pairs as above
    }
    add_relaxed<std::uint64_t>(parks_, 1);
    now_ns_ = now_ns();
    const bool too_soon = now_ns_ - asleep_ns < spin_most_ns;
    spin_ns_ = std::clamp(too_soon ? 2 * spin_ns_ : spin_ns_ / 2, spin_least_ns, spin_most_ns);
}

WorkerCounters Worker::counters() const noexcept {
    WorkerCounters counters;
    counters.steps = steps_.load(std::memory_order_relaxed);
    counters.stolen = stolen_.load(std::memory_order_relaxed);
    counters.parks = parks_.load(std::memory_order_relaxed);
    counters.busy_ns = busy_ns_.load(std::memory_order_relaxed);
    counters.processor = processor_.load(std::memory_order_relaxed);
    const std::int64_t started_ns = started_ns_.load(std::memory_order_relaxed);
    const std::int64_t ended_ns = ended_ns_.load(std::memory_order_relaxed);
    if (started_ns != 0) counters.alive_ns = (ended_ns != 0 ? ended_ns : now_ns()) - started_ns;
    return counters;
}

}  // namespace strid::runtime
