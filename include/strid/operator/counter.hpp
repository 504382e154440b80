// SPDX-License-Identifier: Apache-2.0
//
// Counters of an application: each replica adds to its own cell, and reports add up the cells by
// operator and name.
//
// Threads: only its replica adds to a counter, one thread at a time; any thread reads. Counters may
// be requested at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <strid/engine/base/cache_line.hpp>

namespace strid {

namespace operators {

/// The cell of counters that belong to no run.
inline std::atomic<std::uint64_t> uncounted{0};

class CounterSet;

}  // namespace operators

/// A handle, valid for the run; copies add to the same count. One that was made without a context
/// counts nothing. From `Context::counter`.
class Counter {
  public:
    Counter() = default;

    /// Some nanoseconds. Relaxed, and no read-modify-write: one replica adds, and reports may be a
    /// little late.
    void add(std::uint64_t n = 1) noexcept {
        value_->store(value_->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }

  private:
    friend class operators::CounterSet;
    explicit Counter(std::atomic<std::uint64_t>& value) noexcept : value_(&value) {}

    std::atomic<std::uint64_t>* value_ = &operators::uncounted;
};

namespace operators {

/// The counters of one operator in one replica.
class CounterSet {
  public:
    /// The counter of this name, created at the first call. Takes a lock.
    [[nodiscard]] Counter counter(std::string_view name);
    /// Calls `visit(name, value)` for each.
    template <class Visit>
    void for_each(Visit&& visit) const {
        const std::lock_guard lock{mutex_};
        for (const auto& cell : cells_) {
            visit(cell->name, cell->value.load(std::memory_order_relaxed));
        }
    }

  private:
    /// In separate lines: other cores write the cells of other replicas.
    struct alignas(cache_line_bytes) Cell {
        std::atomic<std::uint64_t> value{0};
        std::string name;
    };
    static_assert(sizeof(Cell) % cache_line_bytes == 0);

    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Cell>> cells_;  // guarded; a cell stays where it is
};

}  // namespace operators
}  // namespace strid
