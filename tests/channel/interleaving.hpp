// SPDX-License-Identifier: Apache-2.0
//
// The atomics and items of a structure under test, which explorer.hpp runs in every way that the
// C++ memory model allows.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "explorer.hpp"

namespace strid::test {

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
        const bool own = order == std::memory_order_relaxed && writer_ == explorer.thread() &&
                         !explorer.stops_at_own_reads;
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
    T fetch_or(T value, std::memory_order order) {
        return modify([value](T old) { return static_cast<T>(old | value); }, order);
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order order) {
        Explorer::current->announce(location_, true);
        const T before = newest(order).value;
        if (before != expected) {
            expected = before;
            return false;
        }
        write(value, releases(order), stores_.back().released);
        return true;
    }

    void wait(T old, std::memory_order order) const {
        Explorer& explorer = *Explorer::current;
        explorer.announce(location_, false);
        while (newest(order).value == old) explorer.sleep(location_);
    }
    void notify_all() { Explorer::current->notify(location_); }

  private:
    static bool acquires(std::memory_order order) {
        return order == std::memory_order_acq_rel || order == std::memory_order_acquire;
    }
    static bool releases(std::memory_order order) {
        return order == std::memory_order_acq_rel || order == std::memory_order_release;
    }
    /// Reads the newest store, and continues the release sequence that it is part of.
    template <class Change>
    T modify(const Change& change, std::memory_order order) {
        Explorer::current->announce(location_, true);
        const Store before = newest(order);
        write(change(before.value), releases(order), before.released);
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
    const Store& newest(std::memory_order order) const {
        Knowledge& knowledge = Explorer::current->knowledge();
        if (acquires(order)) knowledge.join(stores_.back().released);
        knowledge.oldest(location_) = static_cast<std::uint32_t>(stores_.size() - 1);
        return stores_.back();
    }

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
    T fetch_or(T value, std::memory_order) {
        return ModelAtomic<T>::fetch_or(value, std::memory_order_relaxed);
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order) {
        return ModelAtomic<T>::compare_exchange_strong(expected, value, std::memory_order_relaxed);
    }
    void wait(T old, std::memory_order) const {
        ModelAtomic<T>::wait(old, std::memory_order_relaxed);
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
