// SPDX-License-Identifier: Apache-2.0
#include "order_book.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <strid/engine/base/assert.hpp>

#include "market.hpp"

namespace strid::apps::trading {

namespace {

/// Where the level of this price is, or would be.
auto place_of(std::vector<OrderBook::Level>& levels, OrderBook::Side side, std::uint32_t price) {
    return std::ranges::partition_point(levels, [=](const OrderBook::Level& level) {
        return side == OrderBook::Side::bid ? level.price < price : level.price > price;
    });
}

}  // namespace

std::vector<OrderBook::Level>& OrderBook::levels_of(const Order& order) noexcept {
    Stock& stock = stocks_[order.stock];
    return order.side == Side::bid ? stock.bids : stock.asks;
}

bool OrderBook::add_size(const Order& order) {
    std::vector<Level>& levels = levels_of(order);
    const auto place = place_of(levels, order.side, order.price);
    if (place != levels.end() && place->price == order.price) {
        if (place->size + order.shares > static_cast<std::uint64_t>(size_max)) return false;
        place->size += order.shares;
    } else {
        levels.insert(place, {order.price, order.shares});
    }
    return true;
}

void OrderBook::take_size(const Order& order, std::uint32_t shares) noexcept {
    std::vector<Level>& levels = levels_of(order);
    const auto place = place_of(levels, order.side, order.price);
    STRID_ASSERT(place != levels.end() && place->price == order.price && place->size >= shares);
    place->size -= shares;
    if (place->size == 0) levels.erase(place);
}

bool OrderBook::add(Reference reference, const Order& order, std::string& fault) {
    if (order.shares == 0 || order.price == 0) {
        fault = fmt::format("order {} has {} shares at a price of {} ticks", reference,
                            order.shares, order.price);
        return false;
    }
    if (order.stock >= stocks_.size()) stocks_.resize(std::size_t{order.stock} + 1);
    if (!orders_.emplace(reference, order).second) {
        fault = fmt::format("there is an order {} already", reference);
        return false;
    }
    if (!add_size(order)) {
        orders_.erase(reference);
        fault = fmt::format("at the price of order {} there are more than {} shares", reference,
                            size_max);
        return false;
    }
    return true;
}

OrderBook::Orders::iterator OrderBook::find(std::uint16_t stock, Reference reference,
                                            std::string& fault) {
    const auto found = orders_.find(reference);
    if (found == orders_.end()) {
        fault = fmt::format("there is no order {}", reference);
    } else if (found->second.stock != stock) {
        fault = fmt::format("order {} is of stock {} and not {}", reference, found->second.stock,
                            stock);
        return orders_.end();
    }
    return found;
}

bool OrderBook::reduce(std::uint16_t stock, Reference reference, std::uint32_t shares,
                       std::string& fault) {
    const auto found = find(stock, reference, fault);
    if (found == orders_.end()) return false;
    Order& order = found->second;
    if (shares > order.shares) {
        fault = fmt::format("order {} has {} shares and not {}", reference, order.shares, shares);
        return false;
    }
    take_size(order, shares);
    order.shares -= shares;
    if (order.shares == 0) orders_.erase(found);
    return true;
}

bool OrderBook::remove(std::uint16_t stock, Reference reference, std::string& fault) {
    const auto found = find(stock, reference, fault);
    if (found == orders_.end()) return false;
    take_size(found->second, found->second.shares);
    orders_.erase(found);
    return true;
}

bool OrderBook::replace(std::uint16_t stock, Reference reference, Reference by,
                        std::uint32_t shares, std::uint32_t price, std::string& fault) {
    const auto found = find(stock, reference, fault);
    if (found == orders_.end()) return false;
    const Order before = found->second;
    if (!add(by, {stock, before.side, shares, price}, fault)) return false;
    return remove(stock, reference, fault);
}

OrderBook::Best OrderBook::best_of(std::uint16_t stock) const noexcept {
    if (stock >= stocks_.size()) return {};
    const Stock& own = stocks_[stock];
    return {own.bids.empty() ? Level{} : own.bids.back(),
            own.asks.empty() ? Level{} : own.asks.back()};
}

std::size_t OrderBook::bytes() const noexcept {
    std::size_t bytes = stocks_.capacity() * sizeof(Stock) +
                        orders_.bucket_count() * (sizeof(Orders::value_type) + 1);
    for (const Stock& stock : stocks_) {
        bytes += (stock.bids.capacity() + stock.asks.capacity()) * sizeof(Level);
    }
    return bytes;
}

}  // namespace strid::apps::trading
