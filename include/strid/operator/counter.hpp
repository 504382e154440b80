// SPDX-License-Identifier: Apache-2.0
//
// Counters of an application's own: each replica adds to a cell of its own, and reports add the
// cells up by operator and name.
//
// Threads: a counter is added to by its replica, one thread at a time; any thread reads. Names may
// be asked for at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <strid/base/cache_line.hpp>

namespace strid {

namespace operators {

/// Where the additions go that no run counts.
inline std::atomic<std::uint64_t> uncounted{0};

class CounterSet;

}  // namespace operators

/// A handle, valid for the run; copies add to the same count. One that was made without a context
/// counts nothing. From `Context::counter`.
class Counter {
  public:
    Counter() = default;

    /// Some nanoseconds. Relaxed, and no read-modify-write: one replica adds, reports may look a
    /// little later.
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
    /// The counter of this name; it is made where there is none. Takes a lock.
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
    /// Lines of its own: other replicas' cells are written by other cores.
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
