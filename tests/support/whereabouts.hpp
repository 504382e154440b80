// SPDX-License-Identifier: Apache-2.0
//
// Where threads are, as the kernel says and not the library.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <sched.h>

namespace strid::test {

struct Whereabouts {
    std::thread::id thread;
    std::vector<int> may_be_on;  // processors, ascending
    int is_on = -1;
    friend auto operator<=>(const Whereabouts&, const Whereabouts&) = default;
};

/// Of the calling thread.
inline Whereabouts whereabouts() {
    Whereabouts found{std::this_thread::get_id(), {}, sched_getcpu()};
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) return found;
    for (std::size_t processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (CPU_ISSET(processor, &mask)) found.may_be_on.push_back(static_cast<int>(processor));
    }
    return found;
}

/// Whereabouts of the threads that were in one place of a program.
class Sightings {
  public:
    void add() {
        const Whereabouts found = whereabouts();
        const std::lock_guard lock{mutex_};
        found_.insert(found);
    }
    /// Each once: a thread that moved is there several times.
    [[nodiscard]] std::vector<Whereabouts> all() const {
        const std::lock_guard lock{mutex_};
        return {found_.begin(), found_.end()};
    }

  private:
    mutable std::mutex mutex_;
    std::set<Whereabouts> found_;
};

/// Whether one thread was there, which could be and was on this processor alone.
inline bool was_only_on(const Sightings& sightings, int processor) {
    const auto all = sightings.all();
    return all.size() == 1 && all[0].may_be_on == std::vector{processor} &&
           all[0].is_on == processor;
}

}  // namespace strid::test
