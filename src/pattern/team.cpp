// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/engine/base/relax.hpp>
#include <strid/pattern/team.hpp>

#include "threads.hpp"

namespace strid::pattern {

namespace {

// How long a thread looks for work before it sleeps: about what sleeping and waking cost.
constexpr std::int64_t spin_ns = 50'000;
constexpr int looks_per_clock = 16;

constexpr std::uint64_t bit(unsigned place) noexcept {
    return std::uint64_t{1} << place;
}

}  // namespace

/// One thread of the team: its task takes part in whatever is open.
class Team::Helper final : public runtime::Task {
  public:
    Helper(Team& team, std::size_t number)
        : Task("helper " + std::to_string(number)), team_(team) {}

    /// Looks for jobs for a while before it sleeps: it has its thread to itself.
    runtime::StepResult step(std::int64_t& clock_ns) override {
        idle_.store(false, std::memory_order_relaxed);
        bool helped = help_for_a_while();
        if (!helped) {
            // The flag first, then the jobs: a thread that opens a job does it the other way
            // round.
            idle_.store(true, std::memory_order_seq_cst);  // pairs with is_idle()
            helped = team_.help(0);
        }
        clock_ns = now_ns();
        return helped ? runtime::StepResult::progressed : runtime::StepResult::waiting;
    }
    [[nodiscard]] bool is_idle() const noexcept {
        return idle_.load(std::memory_order_seq_cst);  // pairs with step()
    }
    /// One thread each, which sleeps while the task waits.
    [[nodiscard]] bool awaits_outside() const noexcept override { return true; }

  private:
    bool help_for_a_while() noexcept {
        for (std::int64_t until_ns = now_ns() + spin_ns; now_ns() < until_ns;) {
            for (int i = 0; i < looks_per_clock; ++i) {
                if (team_.help(0)) return true;
                relax();
            }
        }
        return false;
    }

    Team& team_;
    std::atomic<bool> idle_{false};
};

Team::Team(std::size_t threads) {
    threads = threads_or_cores(threads);
    for (std::size_t i = 0; i + 1 < threads; ++i) {
        helpers_.push_back(std::make_unique<Helper>(*this, i));
    }
    if (helpers_.empty()) return;
    std::vector<runtime::Task*> tasks;
    for (const auto& helper : helpers_) tasks.push_back(helper.get());
    execution_ = std::make_unique<runtime::Execution>(
        std::move(tasks), runtime::ExecutionOptions{.workers = helpers_.size()});
    execution_->start();
}

Team::~Team() = default;

void Team::run(Job& job) noexcept {
    const int claimed = helpers_.empty() ? -1 : claim_place();
    if (claimed < 0) {
        (void)job.take_part();
        return;
    }
    const auto number = static_cast<unsigned>(claimed);
    Place& place = places_[number];
    // Sequentially consistent, here and where it is closed: pairs with help().
    place.job.store(&job, std::memory_order_seq_cst);
    open_.fetch_or(bit(number), std::memory_order_seq_cst);  // pairs with help()
    wake_idle();
    (void)job.take_part();
    close(number);
    place.job.store(nullptr, std::memory_order_seq_cst);  // pairs with help()
    wait_until_left(place, number);
    used_.fetch_and(~bit(number), std::memory_order_release);  // pairs with claim_place()
}

bool Team::help(unsigned from) noexcept {
    // Pairs with run() and close().
    const std::uint64_t open_now = open_.load(std::memory_order_seq_cst);
    for (std::uint64_t open = std::rotr(open_now, static_cast<int>(from)); open != 0;
         open &= open - 1) {
        const unsigned number =
            (from + static_cast<unsigned>(std::countr_zero(open))) % place_count;
        Place& place = places_[number];
        // Counted first, then the job is read: the thread that closes the place writes and reads
        // the other way round, all of it sequentially consistent, so that one of the two sees the
        // other. The second also acquires what the job is.
        place.inside.fetch_add(1, std::memory_order_seq_cst);
        Job* const job = place.job.load(std::memory_order_seq_cst);
        bool helped = false;
        if (job != nullptr) {
            helped = job->take_part();
            close(number);  // no part is left, and the place has no other job while one is inside
        }
        leave(place);
        if (helped) return true;
    }
    return false;
}

void Team::wake_idle() noexcept {
    for (const auto& helper : helpers_) {
        if (helper->is_idle()) helper->notify();
    }
}

void Team::close(unsigned place) noexcept {
    if ((open_.load(std::memory_order_relaxed) & bit(place)) == 0) return;
    open_.fetch_and(~bit(place), std::memory_order_seq_cst);  // pairs with help()
}

void Team::leave(Place& place) noexcept {
    // Both pair with wait_until_left() and run(): the work of the thread is visible there.
    if (place.inside.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        place.job.load(std::memory_order_seq_cst) == nullptr) {
        place.inside.notify_all();
    }
}

void Team::wait_until_left(Place& place, unsigned number) noexcept {
    std::int64_t until_ns = 0;
    // Pairs with leave().
    while (const std::uint32_t inside = place.inside.load(std::memory_order_seq_cst)) {
        if (help(number)) {
            until_ns = 0;
            continue;
        }
        const std::int64_t time_ns = now_ns();
        if (until_ns == 0) until_ns = time_ns + spin_ns;
        if (time_ns < until_ns) {
            relax();
        } else {
            place.inside.wait(inside, std::memory_order_seq_cst);  // pairs with leave()
        }
    }
}

int Team::claim_place() noexcept {
    std::uint64_t used = used_.load(std::memory_order_relaxed);
    while (~used != 0) {
        const auto free = static_cast<unsigned>(std::countr_one(used));
        // Acquire: pairs with the release in run(); the place is empty again.
        if (used_.compare_exchange_weak(used, used | bit(free), std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
            return static_cast<int>(free);
        }
    }
    return -1;
}

}  // namespace strid::pattern
