// SPDX-License-Identifier: Apache-2.0
#include "levels.hpp"

#include <algorithm>

namespace strid::exchange {

void Levels::add(Order& order) {
    Level& level = levels_[order.price];
    level.queue.push_back(&order);
    level.quantity += order.open_quantity();
}

void Levels::remove(const Order& order) {
    const auto at = levels_.find(order.price);
    at->second.quantity -= order.open_quantity();
    at->second.queue.remove(const_cast<Order*>(&order));
    if (at->second.queue.empty()) levels_.erase(at);
}

void Levels::take_first(Quantity quantity, bool is_done) {
    const auto best = levels_.begin();
    best->second.quantity -= quantity;
    if (!is_done) return;
    best->second.queue.pop_front();
    if (best->second.queue.empty()) levels_.erase(best);
}

void Levels::reduce(const Order& order, Quantity quantity) {
    levels_.find(order.price)->second.quantity -= quantity;
}

Quantity Levels::available(bool is_market, Price limit, Quantity enough) const {
    Quantity sum = 0;
    for (const auto& [price, level] : levels_) {
        const bool takes = is_market || (side_ == Side::buy ? price >= limit : price <= limit);
        if (!takes || sum >= enough) break;
        sum += level.quantity;
    }
    return std::min(sum, enough);
}

std::vector<LevelView> Levels::view(std::uint32_t depth) const {
    std::vector<LevelView> best;
    for (const auto& [price, level] : levels_) {
        if (depth != 0 && best.size() == depth) break;
        best.push_back({price, level.quantity});
    }
    return best;
}

bool Levels::is_valid() const {
    return std::all_of(levels_.begin(), levels_.end(), [this](const auto& entry) {
        Quantity sum = 0;
        CommandNumber last = 0;
        for (const Order* order : entry.second.queue) {
            if (order->side != side_ || order->price != entry.first || is_done(order->status) ||
                order->open_quantity() <= 0 || order->queued_at <= last) {
                return false;
            }
            sum += order->open_quantity();
            last = order->queued_at;
        }
        return sum == entry.second.quantity && sum != 0;
    });
}

void append_changes(Side side, const std::vector<LevelView>& before,
                    const std::vector<LevelView>& after, std::vector<LevelChange>& changes) {
    const auto with_price = [](const std::vector<LevelView>& levels, Price price) {
        return std::find_if(levels.begin(), levels.end(),
                            [price](const LevelView& level) { return level.price == price; });
    };
    for (const LevelView& level : before) {
        if (with_price(after, level.price) == after.end()) {
            changes.push_back({LevelAction::removed, side, {level.price, 0}});
        }
    }
    for (const LevelView& level : after) {
        const auto known = with_price(before, level.price);
        if (known == before.end()) {
            changes.push_back({LevelAction::added, side, level});
        } else if (*known != level) {
            changes.push_back({LevelAction::changed, side, level});
        }
    }
}

}  // namespace strid::exchange
