// SPDX-License-Identifier: Apache-2.0
#include "quote_rows.hpp"

#include <charconv>

#include <fmt/format.h>

#include <strid/engine/base/excerpt.hpp>

namespace strid::apps::trading {

namespace {

/// A price and a size; a side without one of them is empty, which is 0.
struct Side {
    const char* name;
    std::string_view price;
    std::string_view size;

    bool read(unsigned decimals, std::int64_t& ticks, std::int64_t& count,
              std::string& fault) const {
        if (!price.empty() && !read_ticks(price, decimals, ticks)) {
            fault = fmt::format("the {} '{}' is no price of at most {} decimal places", name,
                                excerpt(price), decimals);
            return false;
        }
        if (!size.empty() && !read_size(count)) {
            fault = fmt::format("the {} size '{}' is no whole number up to {}", name, excerpt(size),
                                size_max);
            return false;
        }
        if (ticks == 0 || count == 0) ticks = count = 0;
        return true;
    }

  private:
    [[nodiscard]] bool read_size(std::int64_t& count) const {
        const char* const end = size.data() + size.size();
        const auto [stop, error] = std::from_chars(size.data(), end, count);
        return error == std::errc{} && stop == end && count >= 0 && count <= size_max;
    }
};

}  // namespace

QuoteCheck::Symbol& QuoteCheck::symbol_of(std::string_view name) {
    const auto found = symbols_.find(name);
    if (found != symbols_.end()) [[likely]]
        return found->second;
    const Symbol symbol{market_->add_symbol(name), EventTime::earliest()};
    return symbols_.emplace(std::string(name), symbol).first->second;
}

bool QuoteCheck::read_time_of(const QuoteRow& row, Quote& quote, std::string& fault) {
    TimeForm form;
    const TimeFault error = read_time(row.time, market_->notation(), quote.time, form);
    if (error != TimeFault::none) {
        fault = fmt::format("the time '{}': {}", excerpt(row.time), describe(error));
        return false;
    }
    if (quotes_ == 0) market_->note_time_form(form);
    return true;
}

bool QuoteCheck::operator()(const QuoteRow& row, Quote& quote, std::string& fault) {
    quote = {};
    if (row.symbol.empty() || row.symbol.size() > symbol_bytes_max) {
        fault = row.symbol.empty()
                    ? "the symbol is missing"
                    : fmt::format("the symbol is longer than {} bytes", symbol_bytes_max);
        return false;
    }
    if (!read_time_of(row, quote, fault)) return false;
    const Side bid{"bid", row.bid, row.bid_size};
    const Side ask{"ask", row.ask, row.ask_size};
    if (!bid.read(market_->decimals(), quote.bid, quote.bid_volume, fault) ||
        !ask.read(market_->decimals(), quote.ask, quote.ask_volume, fault)) {
        return false;
    }
    Symbol& symbol = symbol_of(row.symbol);
    if (quote.time < symbol.latest) {
        fault = fmt::format("the time '{}' lies before that of the quote of {} before it",
                            excerpt(row.time), excerpt(row.symbol));
        return false;
    }
    symbol.latest = quote.time;
    quote.symbol = symbol.number;
    quote.number = quotes_++;
    return true;
}

}  // namespace strid::apps::trading
