// SPDX-License-Identifier: Apache-2.0
#include "writers.hpp"

#include <iterator>

#include <fmt/format.h>

#include <strid/connector/csv_value.hpp>

namespace strid::apps::trading {

void PredictionWriter::operator()(const Prediction& prediction) {
    if (writer() == nullptr) return;
    std::string& row = writer()->rows();
    append_csv_field(row, market_->name_of(prediction.symbol), ',');
    fmt::format_to(std::back_inserter(row), ",{},", prediction.window);
    market_->append_time(row, prediction.forecast.time);
    fmt::format_to(std::back_inserter(row), ",{},{}\n",
                   market_->price_of(prediction.forecast.price), prediction.forecast.volume);
    writer()->row_done();
}

void QuoteWriter::operator()(const Quote& quote) {
    std::string& row = writer()->rows();
    append_csv_field(row, market_->name_of(quote.symbol), ',');
    row += ',';
    market_->append_time(row, quote.time);
    row += ',';
    market_->append_price(row, quote.bid);
    row += ',';
    market_->append_price(row, quote.ask);
    fmt::format_to(std::back_inserter(row), ",{},{}\n", quote.bid_volume, quote.ask_volume);
    writer()->row_done();
}

}  // namespace strid::apps::trading
