// SPDX-License-Identifier: Apache-2.0
//
// A source of quotes: rows of CSV with a header, checked. One thread at a time each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "apps/common/checked_rows.hpp"
#include "market.hpp"
#include "quote.hpp"

namespace strid::apps::trading {

/// A row as it stands in the file.
struct QuoteRow {
    std::string_view symbol;
    std::string_view time;
    std::string_view bid;
    std::string_view ask;
    std::string_view bid_size;
    std::string_view ask_size;
};

class QuoteCheck {
  public:
    using Row = QuoteRow;
    using Record = Quote;
    static constexpr bool points_to_text = false;

    explicit QuoteCheck(std::shared_ptr<Market> market) : market_(std::move(market)) {}

    /// A side that has no price or no size is empty: 0. The time of a symbol does not go back.
    bool operator()(const QuoteRow& row, Quote& quote, std::string& fault);
    /// Goes on with a check of the same market, whose numbers of symbols these are.
    auto state() {
        return std::tuple_cat(std::make_tuple(SavedMarket(market_)), std::tie(symbols_, quotes_));
    }

  private:
    struct Symbol {
        std::uint64_t number;
        EventTime latest;
    };
    struct HashOfName {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const noexcept {
            return std::hash<std::string_view>{}(name);
        }
    };

    bool read_time_of(const QuoteRow& row, Quote& quote, std::string& fault);
    [[nodiscard]] Symbol& symbol_of(std::string_view name);

    std::shared_ptr<Market> market_;
    boost::unordered_flat_map<std::string, Symbol, HashOfName, std::equal_to<>> symbols_;
    std::uint64_t quotes_ = 0;
};

using QuoteRows = CheckedRows<QuoteCheck>;

}  // namespace strid::apps::trading
