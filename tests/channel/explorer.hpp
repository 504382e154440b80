// SPDX-License-Identifier: Apache-2.0
//
// Runs small concurrent programs in every way the C++ memory model allows, and checks each. Tests
// include interleaving.hpp, which has the atomics.
//
// The structure under test takes its atomics as a template parameter; here it gets ModelAtomic.
// Every operation on one stops the program, and the explorer decides which program goes on; a load
// may return any store that coherence and happens-before still permit, not just the newest. Plain
// data is put in Watched, which reports a data race. The explorer runs the programs again and again
// from the beginning, depth first over its decisions, until none is left.
//
// The model. A location keeps its stores in modification order, here the order of execution, which
// is exact when all writers of a location are ordered by happens-before, as in every structure of
// this room. A thread's knowledge is the oldest store it may still read per location, and a vector
// clock. A release store carries its thread's knowledge, an acquire load that reads it joins it. A
// read-modify-write reads the newest store and continues its release sequence; so does the
// comparison of one that fails. A wait reads the newest store and sleeps until a notification when
// that is the old value, in one step as the kernel does it; that all threads sleep is a failure.
// Sequential consistency and load buffering are not modelled: no explored structure uses the first,
// and the second does not exist on the processors we know.
//
// Two operations commute unless they touch the same location and one stores. Sleep sets (Godefroid,
// 1996) skip runs that differ only in the order of commuting operations.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fiber.hpp"

namespace strid::test {

inline constexpr std::size_t threads_max = 5;  // the test itself is thread 0

/// The knowledge of a thread, or that a message carries.
struct Knowledge {
    std::array<std::uint32_t, threads_max> clock{};
    std::vector<std::uint32_t> oldest_readable;  // by location

    std::uint32_t& oldest(std::size_t location) {
        if (oldest_readable.size() <= location) oldest_readable.resize(location + 1, 0);
        return oldest_readable[location];
    }
    void join(const Knowledge& other) {
        for (std::size_t i = 0; i < threads_max; ++i) clock[i] = std::max(clock[i], other.clock[i]);
        for (std::size_t i = 0; i < other.oldest_readable.size(); ++i) {
            oldest(i) = std::max(oldest(i), other.oldest_readable[i]);
        }
    }
};

struct Exploration {
    std::uint64_t runs = 0;  // complete ones; those cut short by a sleep set included
    std::string failure;     // empty, or the first failure with its schedule
};

class Explorer {
  public:
    static inline Explorer* current = nullptr;

    /// Whether a thread also stops before it reads a value that only it has written so far: needed
    /// where another one may write it later, needless and slow where not.
    bool stops_at_own_reads = false;

    /// Runs the programs on fresh states in all ways; `check` returns what is wrong with the state
    /// at the end of a run, "" if nothing is.
    template <class State>
    Exploration run(const std::function<std::unique_ptr<State>()>& make,
                    const std::vector<std::function<void(State&)>>& programs,
                    const std::function<std::string(State&)>& check,
                    std::uint64_t runs_max = 5'000'000) {
        current = this;
        threads_.resize(programs.size() + 1);
        State* state = nullptr;
        for (std::size_t i = 1; i < threads_.size(); ++i) {
            threads_[i].fiber = std::make_unique<Fiber>([this, i, &state, &programs] {
                while (true) {
                    programs[i - 1](*state);
                    threads_[i].done = true;
                    threads_[i].fiber->pause();
                }
            });
        }
        Exploration result;
        do {
            begin_run();
            const std::unique_ptr<State> owner = make();
            state = owner.get();
            run_threads();
            if (failure_.empty()) failure_ = check(*state);
            if (++result.runs == runs_max && failure_.empty()) failure_ = "too many runs";
        } while (failure_.empty() && next_path());
        current = nullptr;
        if (!failure_.empty()) result.failure = failure_ + "\nschedule:" + schedule();
        return result;
    }

    // ---- for ModelAtomic and Watched ------------------------------------------------------------

    std::size_t new_location() { return locations_++; }
    std::size_t thread() const { return running_; }
    Knowledge& knowledge() { return threads_[running_].knowledge; }
    void fail(const std::string& what) {
        if (failure_.empty()) failure_ = what;
    }

    /// Stops the running program before an operation, until the explorer resumes it.
    void announce(std::size_t location, bool stores) {
        if (running_ == 0) return;
        Thread& me = threads_[running_];
        me.pending_location = location;
        me.pending_store = stores;
        me.fiber->pause();
        schedule_.push_back({running_, location, stores});
    }

    /// Stops the running program until another one notifies the location.
    void sleep(std::size_t location) {
        Thread& me = threads_[running_];
        me.sleeps = true;
        announce(location, false);
    }
    void notify(std::size_t location) {
        announce(location, true);
        for (Thread& thread : threads_) {
            if (thread.pending_location == location) thread.sleeps = false;
        }
    }

    /// One of `count` ways to go on.
    std::size_t choose(std::size_t count) {
        if (count == 1 || redundant_) return 0;
        if (depth_ == path_.size()) path_.push_back({0, count});
        if (path_[depth_].count != count) fail("the programs are not deterministic");
        return path_[depth_++].chosen;
    }

  private:
    struct Operation {
        std::size_t thread;
        std::size_t location;
        bool stores;
    };
    struct Decision {
        std::size_t chosen;
        std::size_t count;
    };
    struct Thread {
        std::unique_ptr<Fiber> fiber;
        Knowledge knowledge;
        std::size_t pending_location = 0;
        bool pending_store = false;
        bool done = false;
        bool asleep = false;  // in the sleep set of the exploration
        bool sleeps = false;  // in a wait
    };

    void begin_run() {
        depth_ = 0;
        locations_ = 0;
        running_ = 0;
        redundant_ = false;
        schedule_.clear();
        threads_[0].knowledge = Knowledge{};
        threads_[0].knowledge.clock[0] = 1;
    }

    void run_threads() {
        for (std::size_t i = 1; i < threads_.size(); ++i) {
            threads_[i].knowledge = threads_[0].knowledge;
            threads_[i].knowledge.clock[i] = 1;
            threads_[i].done = threads_[i].asleep = threads_[i].sleeps = false;
            resume(i);  // up to its first operation
        }
        while (const std::size_t next = pick()) resume(next);
        for (std::size_t i = 1; i < threads_.size(); ++i) {
            if (!threads_[i].done) fail("thread " + std::to_string(i) + " sleeps for ever");
        }
        for (const Thread& thread : threads_) threads_[0].knowledge.join(thread.knowledge);
    }

    void resume(std::size_t i) {
        running_ = i;
        threads_[i].fiber->resume();
        running_ = 0;
    }

    /// The thread to go on with, 0 when all are done.
    std::size_t pick() {
        std::vector<std::size_t> ready;
        std::vector<std::size_t> awake;
        for (std::size_t i = 1; i < threads_.size(); ++i) {
            if (threads_[i].done || threads_[i].sleeps) continue;
            ready.push_back(i);
            if (!threads_[i].asleep) awake.push_back(i);
        }
        if (ready.empty()) return 0;
        if (awake.empty()) {
            redundant_ = true;  // seen before in another order: run to the end without decisions
            awake = ready;
        }
        const std::size_t choice = choose(awake.size());
        const Thread& chosen = threads_[awake[choice]];
        for (std::size_t i = 0; i < choice; ++i) threads_[awake[i]].asleep = true;
        for (Thread& thread : threads_) {
            const bool commute = thread.pending_location != chosen.pending_location ||
                                 (!thread.pending_store && !chosen.pending_store);
            if (!commute) thread.asleep = false;
        }
        return awake[choice];
    }

    /// The operations of the last run in order: thread, r or w, location.
    std::string schedule() const {
        std::string text;
        for (const Operation& operation : schedule_) {
            text += ' ';
            text += std::to_string(operation.thread);
            text += operation.stores ? 'w' : 'r';
            text += std::to_string(operation.location);
        }
        return text;
    }

    bool next_path() {
        while (!path_.empty() && path_.back().chosen + 1 == path_.back().count) path_.pop_back();
        if (path_.empty()) return false;
        ++path_.back().chosen;
        return true;
    }

    std::vector<Thread> threads_;
    std::vector<Decision> path_;
    std::size_t depth_ = 0;
    std::size_t locations_ = 0;
    std::size_t running_ = 0;
    bool redundant_ = false;
    std::vector<Operation> schedule_;
    std::string failure_;
};

}  // namespace strid::test
