// SPDX-License-Identifier: Apache-2.0
//
// One side of a book: the orders that wait, by price and, at one price, by time. Borrows the
// orders. One thread at a time.
//
// Invariant: a level has at least one order, each open and of this side and price, in the order in
// which they were queued; its quantity is the sum of their open quantities.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "order.hpp"
#include "report.hpp"

namespace strid::exchange {

class Levels {
  public:
    struct Level {
        Quantity quantity = 0;
        std::list<Order*> queue;
    };

    explicit Levels(Side side) : side_(side), levels_(Better{side}) {}

    [[nodiscard]] bool empty() const noexcept { return levels_.empty(); }
    /// The price and the queue that trade first; of a side that is not empty.
    [[nodiscard]] Price best_price() const noexcept { return levels_.begin()->first; }
    [[nodiscard]] Order& first() const noexcept { return *levels_.begin()->second.queue.front(); }

    /// At the end of its price. O(log levels).
    void add(Order& order);
    /// Wherever it is. O(log levels + orders of the price).
    void remove(const Order& order);
    /// So much of the first order has traded or gone; it leaves where `is_done`. O(1).
    void take_first(Quantity quantity, bool is_done);
    /// So much of a waiting order is gone; it keeps its place. O(log levels).
    void reduce(const Order& order, Quantity quantity);

    /// The quantity that an order of the other side with this limit can have at once, counted up to
    /// `enough`.
    [[nodiscard]] Quantity available(bool is_market, Price limit, Quantity enough) const;
    /// An order of the other side with this limit takes this price.
    [[nodiscard]] bool crosses(Price limit) const noexcept {
        return side_ == Side::buy ? best_price() >= limit : best_price() <= limit;
    }
    /// The best `depth` levels; all where it is 0.
    [[nodiscard]] std::vector<LevelView> view(std::uint32_t depth) const;
    [[nodiscard]] const auto& levels() const noexcept { return levels_; }
    [[nodiscard]] bool is_valid() const;

  private:
    struct Better {
        Side side;
        bool operator()(Price one, Price other) const noexcept {
            return side == Side::buy ? one > other : one < other;
        }
    };

    Side side_;
    std::map<Price, Level, Better> levels_;
};

/// The updates that turn `before` into `after`: first removals, then what is new or changed, best
/// first.
void append_changes(Side side, const std::vector<LevelView>& before,
                    const std::vector<LevelView>& after, std::vector<LevelChange>& changes);

}  // namespace strid::exchange
