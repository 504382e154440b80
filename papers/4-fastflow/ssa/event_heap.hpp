// SPDX-License-Identifier: Apache-2.0
//
// The times of the next event of each reaction, and the reaction with the earliest: an indexed
// binary heap (Gibson and Bruck 2000). One thread at a time.
//
// Invariant: no node of the heap is earlier than its parent; place_[heap_[i]] == i.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace strid::ssa {

class EventHeap {
  public:
    explicit EventHeap(std::size_t size) : times_(size), heap_(size), place_(size) {
        std::iota(heap_.begin(), heap_.end(), 0U);
        std::iota(place_.begin(), place_.end(), 0U);
    }

    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    /// The reaction with the earliest event.
    [[nodiscard]] std::size_t first() const noexcept { return heap_[0]; }
    [[nodiscard]] double operator[](std::size_t reaction) const noexcept {
        return times_[reaction];
    }

    void assign(std::span<const double> times) {
        times_.assign(times.begin(), times.end());
        // From the same order each time, so that equal times lead to the same heap.
        std::iota(heap_.begin(), heap_.end(), 0U);
        std::iota(place_.begin(), place_.end(), 0U);
        for (std::size_t i = heap_.size() / 2; i-- > 0;) sink(i);
    }
    void set(std::size_t reaction, double time) noexcept {
        const bool later = time > times_[reaction];
        times_[reaction] = time;
        if (later) {
            sink(place_[reaction]);
        } else {
            rise(place_[reaction]);
        }
    }

  private:
    [[nodiscard]] double time_at(std::size_t node) const noexcept { return times_[heap_[node]]; }
    void put(std::size_t node, std::uint32_t reaction) noexcept {
        heap_[node] = reaction;
        place_[reaction] = static_cast<std::uint32_t>(node);
    }
    void rise(std::size_t node) noexcept {
        const std::uint32_t reaction = heap_[node];
        while (node != 0 && times_[reaction] < time_at((node - 1) / 2)) {
            put(node, heap_[(node - 1) / 2]);
            node = (node - 1) / 2;
        }
        put(node, reaction);
    }
    void sink(std::size_t node) noexcept {
        const std::uint32_t reaction = heap_[node];
        for (std::size_t child = 2 * node + 1; child < heap_.size(); child = 2 * node + 1) {
            if (child + 1 < heap_.size() && time_at(child + 1) < time_at(child)) ++child;
            if (!(time_at(child) < times_[reaction])) break;
            put(node, heap_[child]);
            node = child;
        }
        put(node, reaction);
    }

    std::vector<double> times_;
    std::vector<std::uint32_t> heap_;
    std::vector<std::uint32_t> place_;
};

}  // namespace strid::ssa
