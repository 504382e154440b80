// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <exception>
#include <string>
#include <vector>

#include <strid/base/error.hpp>

namespace strid::runtime {

namespace {

// SplitMix64: tiny, and the same numbers with every standard library.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    std::size_t below(std::size_t bound) noexcept { return next() % bound; }

  private:
    std::uint64_t state_;
};

enum class Preference : std::uint8_t { uniform, consumers_first, producers_first, starve_one };

class Simulation {
  public:
    Simulation(Pool& pool, Host& host, Worker& worker, std::uint64_t seed)
        : pool_(pool), host_(host), worker_(worker), seed_(seed), random_(seed) {}

    void run() {
        worker_.settle();
        const Worker::AtWork at_work(worker_);
        while (!pool_.ending()) {
            change_preference();
            // Timers need no clock here: a task that may run later may run now.
            if (random_.below(16) == 0) pool_.fire_timers(never_ns - 1);
            if (random_.below(8) == 0) disturb();
            Slot* slot = choose();
            if (slot == nullptr) {
                wait();
            } else if (Pool::claim(*slot) && worker_.step(*slot)) {
                slot->states->release_ready(slot->bit);
            }
        }
    }

  private:
    static bool is_ready(const Slot& slot) noexcept {
        return ((slot.states->claimable() >> slot.bit) & 1U) != 0;
    }

    // A policy that lasts for a random stretch finds more faults than uniform choices.
    void change_preference() {
        if (mood_steps_left_-- > 0) return;
        preference_ = static_cast<Preference>(random_.below(4));
        victim_ = random_.below(pool_.slots().size());
        mood_steps_left_ = static_cast<int>(random_.below(64));
    }

    // Steps a task that has not been notified.
    void disturb() {
        Slot& slot = pool_.slots()[random_.below(pool_.slots().size())];
        static_cast<void>(slot.states->notify(slot.bit));
    }

    Slot* choose() {
        ready_.clear();
        for (Slot& slot : pool_.slots()) {
            if (is_ready(slot)) ready_.push_back(&slot);
        }
        if (ready_.empty()) return nullptr;
        if (preference_ == Preference::consumers_first) return ready_.back();
        if (preference_ == Preference::producers_first) return ready_.front();
        Slot* slot = ready_[random_.below(ready_.size())];
        if (preference_ == Preference::starve_one && slot == &pool_.slots()[victim_]) {
            slot = ready_[random_.below(ready_.size())];
        }
        return slot;
    }

    // Nothing is ready.
    void wait() {
        if (pool_.next_deadline() != never_ns) {
            pool_.fire_timers(never_ns - 1);
            return;
        }
        std::string unfinished;
        for (Slot& slot : pool_.slots()) {
            if (slot.finished.load(std::memory_order_relaxed)) continue;
            if (slot.task->awaits_outside()) {
                worker_.park();
                worker_.stop_searching();
                return;
            }
            unfinished += (unfinished.empty() ? "'" : ", '") + slot.task->name() + "'";
        }
        host_.task_failed(std::make_exception_ptr(
            Error("deadlock in the simulation with seed " + std::to_string(seed_) +
                  ": no task can run, unfinished are " + unfinished)));
    }

    Pool& pool_;
    Host& host_;
    Worker& worker_;
    std::uint64_t seed_;
    Random random_;
    Preference preference_ = Preference::uniform;
    int mood_steps_left_ = 0;
    std::size_t victim_ = 0;
    std::vector<Slot*> ready_;
};

}  // namespace

void simulate(Pool& pool, Host& host, Worker& worker, std::uint64_t seed) noexcept {
    try {
        Simulation(pool, host, worker, seed).run();
    } catch (...) {
        host.task_failed(std::current_exception());  // out of memory
    }
}

}  // namespace strid::runtime
