// SPDX-License-Identifier: Apache-2.0
#include "itch_feed.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <strid/engine/base/excerpt.hpp>

namespace strid::apps::trading {

namespace {

constexpr std::uint64_t day_ns = 86'400'000'000'000;
constexpr std::size_t name_bytes = 8;

/// The length of each type of message in bytes, its type included.
struct TypeOfMessage {
    char type;
    std::size_t bytes;
};
constexpr TypeOfMessage types[] = {
    {'S', 12},  // system event
    {'R', 39},  // stock directory
    {'H', 25},  // stock trading action
    {'Y', 20},  // Reg SHO restriction
    {'L', 26},  // market participant position
    {'V', 35},  // market-wide circuit breaker: decline levels
    {'W', 12},  // market-wide circuit breaker: status
    {'K', 28},  // IPO quoting period update
    {'J', 35},  // limit up, limit down: auction collar
    {'h', 21},  // operational halt
    {'A', 36},  // add order
    {'F', 40},  // add order, with the market participant
    {'E', 31},  // order executed
    {'C', 36},  // order executed, with a price
    {'X', 23},  // order cancelled in part
    {'D', 19},  // order deleted
    {'U', 35},  // order replaced
    {'P', 44},  // trade against a hidden order
    {'Q', 40},  // cross trade
    {'B', 19},  // broken trade
    {'I', 50},  // net order imbalance
    {'N', 20},  // retail price improvement
    {'O', 48},  // direct listing with capital raise
};

}  // namespace

/// Numbers, the most significant byte first.
class ItchFeed::Fields {
  public:
    explicit Fields(std::string_view message) noexcept : message_(message) {}

    template <class Number>
    [[nodiscard]] Number number(std::size_t at, std::size_t bytes = sizeof(Number)) const noexcept {
        std::uint64_t value = 0;
        for (std::size_t i = at; i != at + bytes; ++i) {
            value = value << 8U | static_cast<unsigned char>(message_[i]);
        }
        return static_cast<Number>(value);
    }
    [[nodiscard]] char character(std::size_t at) const noexcept { return message_[at]; }
    /// Without the blanks behind it.
    [[nodiscard]] std::string_view name(std::size_t at) const noexcept {
        const std::string_view name = message_.substr(at, name_bytes);
        return name.substr(0, name.find_last_not_of(' ') + 1);
    }

    [[nodiscard]] char type() const noexcept { return message_[0]; }
    [[nodiscard]] std::uint16_t stock() const noexcept { return number<std::uint16_t>(1); }
    [[nodiscard]] std::uint64_t time_ns() const noexcept { return number<std::uint64_t>(5, 6); }
    [[nodiscard]] std::uint64_t reference() const noexcept { return number<std::uint64_t>(11); }

  private:
    std::string_view message_;
};

ItchFeed::ItchFeed(std::shared_ptr<Market> market) : market_(std::move(market)) {}

bool ItchFeed::check(std::string_view message, std::string& fault) const {
    const auto* const found = std::ranges::find(types, message[0], &TypeOfMessage::type);
    if (found == std::end(types)) {
        fault = fmt::format("a message of the unknown type '{}'", excerpt(message.substr(0, 1)));
    } else if (message.size() != found->bytes) {
        fault = fmt::format("a message of type {} has {} bytes and not {}", found->type,
                            found->bytes, message.size());
    } else if (const std::uint64_t time_ns = Fields(message).time_ns(); time_ns >= day_ns) {
        fault = fmt::format("the time {} ns lies behind the end of the day", time_ns);
    } else if (time_ns < latest_ns_) {
        fault = fmt::format("the time {} ns lies before that of a message before it, {}", time_ns,
                            latest_ns_);
    }
    return fault.empty();
}

bool ItchFeed::name_stock(const Fields& fields, std::size_t at, std::string& fault) {
    const std::string_view name = fields.name(at);
    if (fields.stock() >= stocks_.size()) stocks_.resize(std::size_t{fields.stock()} + 1);
    Stock& stock = stocks_[fields.stock()];
    if (stock.name == name && !name.empty()) [[likely]]
        return true;
    const auto is_printed = [](char c) { return c > ' ' && c <= '~'; };
    if (name.empty() || !std::ranges::all_of(name, is_printed)) {
        fault = fmt::format("stock {} has the name '{}'", fields.stock(), excerpt(name));
    } else if (!stock.name.empty()) {
        fault = fmt::format("stock {} is {} and not {}", fields.stock(), stock.name, name);
    } else {
        stock.name = name;
        stock.symbol = market_->add_symbol(name);
    }
    return fault.empty();
}

bool ItchFeed::take_order(const Fields& fields, std::string& fault) {
    const std::uint16_t stock = fields.stock();
    switch (fields.type()) {
        case 'R':
            return name_stock(fields, 11, fault);
        case 'A':
        case 'F': {
            const char side = fields.character(19);
            if (side != 'B' && side != 'S') {
                fault = fmt::format("order {} is neither to buy nor to sell", fields.reference());
                return false;
            }
            return name_stock(fields, 24, fault) &&
                   book_.add(fields.reference(),
                             {stock, side == 'B' ? OrderBook::Side::bid : OrderBook::Side::ask,
                              fields.number<std::uint32_t>(20), fields.number<std::uint32_t>(32)},
                             fault);
        }
        case 'E':
        case 'C':
        case 'X':
            return book_.reduce(stock, fields.reference(), fields.number<std::uint32_t>(19), fault);
        case 'D':
            return book_.remove(stock, fields.reference(), fault);
        case 'U':
            return book_.replace(stock, fields.reference(), fields.number<std::uint64_t>(19),
                                 fields.number<std::uint32_t>(27), fields.number<std::uint32_t>(31),
                                 fault);
        default:
            return true;
    }
}

bool ItchFeed::has_moved(std::uint16_t stock) noexcept {
    if (stock >= stocks_.size()) return false;  // of no stock
    const OrderBook::Best best = book_.best_of(stock);
    if (best == stocks_[stock].best) return false;
    stocks_[stock].best = best;
    return true;
}

ItchFeed::Outcome ItchFeed::take(std::string_view message, Quote& quote, std::string& fault) {
    fault.clear();
    if (!check(message, fault)) return Outcome::refused;
    const Fields fields(message);
    if (!take_order(fields, fault)) return Outcome::refused;
    latest_ns_ = fields.time_ns();
    if (!has_moved(fields.stock())) return Outcome::nothing;
    const Stock& stock = stocks_[fields.stock()];
    quote = {.symbol = stock.symbol,
             .time = EventTime::of_ns(static_cast<std::int64_t>(latest_ns_)),
             .bid = stock.best.bid.price,
             .ask = stock.best.ask.price,
             .bid_volume = static_cast<std::int64_t>(stock.best.bid.size),
             .ask_volume = static_cast<std::int64_t>(stock.best.ask.size),
             .exchange = 0,
             .number = quotes_++};
    return Outcome::quote;
}

std::size_t ItchFeed::bytes() const noexcept {
    return book_.bytes() + stocks_.capacity() * sizeof(Stock);
}

}  // namespace strid::apps::trading
