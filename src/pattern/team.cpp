// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/base/topology.hpp>
#include <strid/engine/base/relax.hpp>
#include <strid/pattern/team.hpp>

#include "threads.hpp"

namespace strid::pattern {

namespace {

// How long a thread looks for work before it sleeps: about what sleeping and waking cost.
constexpr std::int64_t spin_ns = 50'000;
constexpr int looks_per_clock = 16;

// A thread that waits takes part in kept jobs only so deep: each part may wait again, and there may
// be any number of parts.
constexpr int kept_depth_max = 8;

thread_local int waits_deep = 0;
thread_local int jobs_deep = 0;

constexpr std::uint64_t bit(unsigned place) noexcept {
    return std::uint64_t{1} << place;
}

// A thread for each helper, also where several are on one core: one that is woken may not wait for
// a thread that is in a long job.
runtime::ExecutionOptions helper_options(const TeamOptions& options, std::size_t helpers) {
    runtime::ExecutionOptions threads{.mode = runtime::ExecutionOptions::Mode::dedicated};
    if (!options.pin) return threads;
    const Topology topology = Topology::detect();
    const std::span<const Core> cores = topology.cores();
    for (std::size_t i = 1; i <= helpers; ++i) {
        threads.affinity.push_back(cores[i % cores.size()].processor);
    }
    return threads;
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
            idle_.store(true, std::memory_order_seq_cst);  // pairs with wake_if_idle()
            helped = team_.others_are_open(-1);            // the next step takes part
            // Where it was woken meanwhile, there may be a part for one more thread.
            if (helped && !idle_.exchange(false, std::memory_order_seq_cst)) team_.wake_idle(1);
        }
        clock_ns = now_ns();
        return helped ? runtime::StepResult::progressed : runtime::StepResult::waiting;
    }
    /// Wakes it where it has nothing to do and nothing else has woken it.
    bool wake_if_idle() noexcept {
        if (!idle_.load(std::memory_order_seq_cst)) return false;             // pairs with step()
        if (!idle_.exchange(false, std::memory_order_seq_cst)) return false;  // pairs with step()
        notify();
        return true;
    }

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

Team::Team(std::size_t threads) : Team(TeamOptions{.threads = threads}) {}

Team::Team(const TeamOptions& options) {
    const std::size_t threads = threads_or_cores(options.threads);
    for (std::size_t i = 0; i + 1 < threads; ++i) {
        helpers_.push_back(std::make_unique<Helper>(*this, i));
    }
    if (helpers_.empty()) return;
    std::vector<runtime::Task*> tasks;
    for (const auto& helper : helpers_) tasks.push_back(helper.get());
    execution_ = std::make_unique<runtime::Execution>(std::move(tasks),
                                                      helper_options(options, helpers_.size()));
    execution_->start();
}

Team::~Team() = default;

bool Team::inside_a_job() noexcept {
    return jobs_deep != 0;
}
Team::Inside::Inside() noexcept {
    ++jobs_deep;
}
Team::Inside::~Inside() {
    --jobs_deep;
}

void Team::run(Job& job) noexcept {
    const Inside inside;
    const int claimed = helpers_.empty() ? -1 : claim_place(false);
    if (claimed < 0) {
        (void)job.take_part();
        return;
    }
    const auto number = static_cast<unsigned>(claimed);
    fill_place(number, job);
    open_.fetch_or(bit(number), std::memory_order_seq_cst);  // pairs with help()
    wake_idle(helpers_.size());
    (void)job.take_part();
    close_place(number);
    clear_place(number);
}

void Team::keep(Job& job, int& place) noexcept {
    place = helpers_.empty() ? -1 : claim_place(true);
    if (place >= 0) fill_place(static_cast<unsigned>(place), job);
}

void Team::open(int place) noexcept {
    if (place < 0) return;
    const std::uint64_t its_bit = bit(static_cast<unsigned>(place));
    // Pairs with close(): where this reads an open place, the thread that closes it has yet to look
    // for parts once more.
    if ((open_.load(std::memory_order_seq_cst) & its_bit) == 0) {
        open_.fetch_or(its_bit, std::memory_order_seq_cst);  // pairs with help()
    }
    wake_idle(1);
}

void Team::close(int place) noexcept {
    if (place >= 0) close_place(static_cast<unsigned>(place));
}

void Team::give_up(int place) noexcept {
    if (place < 0) return;
    close(place);
    clear_place(static_cast<unsigned>(place));
}

bool Team::help_others(int place) noexcept {
    if (helpers_.empty()) return false;
    return help_in_wait(place < 0 ? 0 : (static_cast<unsigned>(place) + 1) % place_count);
}

bool Team::others_are_open(int place) const noexcept {
    if (waits_deep >= kept_depth_max) return false;
    const std::uint64_t open = open_.load(std::memory_order_seq_cst);  // pairs with open(), run()
    return (place < 0 ? open : open & ~bit(static_cast<unsigned>(place))) != 0;
}

bool Team::is_waiting() noexcept {
    return waits_deep != 0;
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
        // The place has no other job while a thread is inside.
        if (job != nullptr && !(place.kept && waits_deep > kept_depth_max)) {
            const Inside inside_it;
            helped = job->take_part();
            if (!place.kept) close_place(number);  // no part is left
        }
        leave(place);
        if (helped) return true;
    }
    return false;
}

bool Team::help_in_wait(unsigned from) noexcept {
    ++waits_deep;
    const bool helped = help(from);
    --waits_deep;
    return helped;
}

void Team::wake_idle(std::size_t most) noexcept {
    for (std::size_t i = 0; i < helpers_.size() && most != 0; ++i) {
        if (helpers_[i]->wake_if_idle()) --most;
    }
    if (most != 0) wake_waiting();
}

void Team::close_place(unsigned place) noexcept {
    if ((open_.load(std::memory_order_relaxed) & bit(place)) == 0) return;
    open_.fetch_and(~bit(place), std::memory_order_seq_cst);  // pairs with help()
}

void Team::leave(Place& place) noexcept {
    // Both pair with wait_until_left() and clear_place(): the work of the thread is visible there.
    if (place.inside.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        place.job.load(std::memory_order_seq_cst) == nullptr) {
        place.inside.notify_all();
    }
}

void Team::wait_until_left(Place& place, unsigned number) noexcept {
    std::int64_t until_ns = 0;
    // Pairs with leave().
    while (const std::uint32_t inside = place.inside.load(std::memory_order_seq_cst)) {
        if (help_in_wait(number)) {
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

int Team::claim_place(bool kept) noexcept {
    std::uint64_t used = used_.load(std::memory_order_relaxed);
    while (~used != 0) {
        const auto free = static_cast<unsigned>(std::countr_one(used));
        // Acquire: pairs with the release in clear_place(); the place is empty again.
        if (!used_.compare_exchange_weak(used, used | bit(free), std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
            continue;
        }
        places_[free].kept = kept;
        return static_cast<int>(free);
    }
    return -1;
}

void Team::fill_place(unsigned place, Job& job) noexcept {
    // Sequentially consistent, here and where it is cleared: pairs with help().
    places_[place].job.store(&job, std::memory_order_seq_cst);
}

void Team::clear_place(unsigned place) noexcept {
    places_[place].job.store(nullptr, std::memory_order_seq_cst);  // pairs with help()
    wait_until_left(places_[place], place);
    used_.fetch_and(~bit(place), std::memory_order_release);  // pairs with claim_place()
}

}  // namespace strid::pattern
