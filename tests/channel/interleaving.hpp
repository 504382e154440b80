// SPDX-License-Identifier: Apache-2.0
//
// Runs small concurrent programs in every way the C++ memory model allows, and checks each.
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
// read-modify-write reads the newest store and continues its release sequence.
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
        bool asleep = false;
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
            threads_[i].done = threads_[i].asleep = false;
            resume(i);  // up to its first operation
        }
        while (const std::size_t next = pick()) resume(next);
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
            if (threads_[i].done) continue;
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

/// In the place of std::atomic.
template <class T>
class ModelAtomic {
  public:
    ModelAtomic() : ModelAtomic(T{}) {}
    explicit(false) ModelAtomic(T value) : location_(Explorer::current->new_location()) {
        stores_.push_back({value, {}});
    }
    ModelAtomic(const ModelAtomic&) = delete;
    ModelAtomic& operator=(const ModelAtomic&) = delete;

    T load(std::memory_order order) const {
        Explorer& explorer = *Explorer::current;
        // A thread need not stop before it reads a value that only it writes: no other operation
        // can change the result. store() makes sure that it is the only writer.
        const bool own = order == std::memory_order_relaxed && writer_ == explorer.thread();
        read_back_ = read_back_ || own;
        if (!own) explorer.announce(location_, false);
        std::uint32_t& oldest = explorer.knowledge().oldest(location_);
        const auto newest = static_cast<std::uint32_t>(stores_.size() - 1);
        oldest = newest - static_cast<std::uint32_t>(explorer.choose(newest - oldest + 1));
        const Store& store = stores_[oldest];
        if (order == std::memory_order_acquire) explorer.knowledge().join(store.released);
        return store.value;
    }

    void store(T value, std::memory_order order) {
        Explorer::current->announce(location_, true);
        write(value, order == std::memory_order_release, {});
    }

    T exchange(T value, std::memory_order order) {
        return modify([value](T) { return value; }, order);
    }
    T fetch_add(T value, std::memory_order order) {
        return modify([value](T old) { return static_cast<T>(old + value); }, order);
    }
    T fetch_sub(T value, std::memory_order order) {
        return modify([value](T old) { return static_cast<T>(old - value); }, order);
    }

  private:
    /// Reads the newest store, and continues the release sequence that it is part of.
    template <class Change>
    T modify(const Change& change, std::memory_order order) {
        Explorer& explorer = *Explorer::current;
        explorer.announce(location_, true);
        const Store before = stores_.back();
        const bool both = order == std::memory_order_acq_rel;
        if (both || order == std::memory_order_acquire) explorer.knowledge().join(before.released);
        write(change(before.value), both || order == std::memory_order_release, before.released);
        return before.value;
    }
    void write(T value, bool releases, const Knowledge& released_before) {
        Explorer& explorer = *Explorer::current;
        if (explorer.thread() != 0 && writer_ != explorer.thread()) {
            if (read_back_) explorer.fail("read back without a stop, but not alone in writing");
            writer_ = writer_ == 0 ? explorer.thread() : threads_max;  // threads_max: several
        }
        Knowledge& knowledge = explorer.knowledge();
        knowledge.oldest(location_) = static_cast<std::uint32_t>(stores_.size());
        stores_.push_back({value, released_before});
        if (!releases) return;
        stores_.back().released.join(knowledge);
        ++knowledge.clock[explorer.thread()];
    }

    struct Store {
        T value;
        Knowledge released;  // nothing when relaxed
    };
    std::size_t location_;
    std::vector<Store> stores_;
    std::size_t writer_ = 0;  // the only thread that stored, 0 before the programs run
    mutable bool read_back_ = false;
};

/// ModelAtomic with every order relaxed: the mutant that a test of a test needs.
template <class T>
class RelaxedModelAtomic : public ModelAtomic<T> {
  public:
    using ModelAtomic<T>::ModelAtomic;
    T load(std::memory_order) const { return ModelAtomic<T>::load(std::memory_order_relaxed); }
    void store(T value, std::memory_order) {
        ModelAtomic<T>::store(value, std::memory_order_relaxed);
    }
    T exchange(T value, std::memory_order) {
        return ModelAtomic<T>::exchange(value, std::memory_order_relaxed);
    }
    T fetch_add(T value, std::memory_order) {
        return ModelAtomic<T>::fetch_add(value, std::memory_order_relaxed);
    }
    T fetch_sub(T value, std::memory_order) {
        return ModelAtomic<T>::fetch_sub(value, std::memory_order_relaxed);
    }
};

/// Plain data under watch: two accesses of which one writes must be ordered by happens-before.
class Watched {
  public:
    Watched() { written(); }
    explicit(false) Watched(int value) : value_(value) { written(); }
    Watched(const Watched& other) noexcept : value_(other.get()) { written(); }
    Watched(Watched&& other) noexcept : value_(other.take()) { written(); }
    Watched& operator=(const Watched& other) noexcept {
        set(other.get());
        return *this;
    }
    Watched& operator=(Watched&& other) noexcept {
        set(other.take());
        return *this;
    }
    ~Watched() { written(); }

    [[nodiscard]] int get() const noexcept {
        Explorer& explorer = *Explorer::current;
        if (!is_ordered_after(writer_, write_clock_))
            explorer.fail("race: read not ordered after the write");
        read_clock_[explorer.thread()] = explorer.knowledge().clock[explorer.thread()];
        return value_;
    }

  private:
    int take() noexcept {
        const int value = get();
        set(0);
        return value;
    }
    void set(int value) noexcept {
        written();
        value_ = value;
    }
    void written() noexcept {
        Explorer& explorer = *Explorer::current;
        if (!is_ordered_after(writer_, write_clock_))
            explorer.fail("race: write not ordered after a write");
        for (std::size_t i = 0; i < threads_max; ++i) {
            if (!is_ordered_after(i, read_clock_[i]))
                explorer.fail("race: write not ordered after a read");
        }
        writer_ = explorer.thread();
        write_clock_ = explorer.knowledge().clock[writer_];
    }
    static bool is_ordered_after(std::size_t thread, std::uint32_t clock) {
        Explorer& explorer = *Explorer::current;
        return thread == explorer.thread() || clock <= explorer.knowledge().clock[thread];
    }

    int value_ = 0;
    std::size_t writer_ = 0;
    std::uint32_t write_clock_ = 0;
    mutable std::array<std::uint32_t, threads_max> read_clock_{};
};

}  // namespace strid::test
