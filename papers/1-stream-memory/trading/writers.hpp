// SPDX-License-Identifier: Apache-2.0
//
// The sinks of the program: predictions and quotes as rows of CSV. Threads as in RowSink.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "apps/common/row_sink.hpp"
#include "market.hpp"
#include "price_model.hpp"
#include "quote.hpp"

namespace strid::apps::trading {

/// Rows `symbol,window,time,price,volume`.
class PredictionWriter : public RowSink {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, SnapshotBegins, Closed>,
                                           .has = Has::blocks | Has::files,
                                           .parallel_by_default = true,
                                           .stateless = true};

    /// An empty path: rows are not written.
    PredictionWriter(const std::string& path, Writing writing, std::shared_ptr<const Market> market)
        : RowSink(path, writing), market_(std::move(market)) {}

    void operator()(const Prediction& prediction);
    /// Whether rows wait for a flush.
    [[nodiscard]] bool holds_rows() { return writer() != nullptr && !writer()->rows().empty(); }

  private:
    std::shared_ptr<const Market> market_;
};

/// Rows of the form in which quotes are read, behind a header.
class QuoteWriter : public RowSink {
  public:
    /// `path` is not empty.
    QuoteWriter(const std::string& path, Writing writing, std::shared_ptr<const Market> market)
        : RowSink(path, writing, "symbol,time,bid,ask,bid_size,ask_size\n"),
          market_(std::move(market)) {}

    void operator()(const Quote& quote);

  private:
    std::shared_ptr<const Market> market_;
};

}  // namespace strid::apps::trading
