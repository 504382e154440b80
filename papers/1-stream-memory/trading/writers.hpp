// SPDX-License-Identifier: Apache-2.0
//
// The sinks of the program: predictions and quotes as rows of CSV. Replicas share a file, row by
// row. One thread at a time each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <strid/connector/row_writer.hpp>
#include <strid/operator/contract.hpp>

#include "market.hpp"
#include "price_model.hpp"
#include "quote.hpp"

namespace strid::apps::trading {

/// Rows `symbol,window,time,price,volume`.
class PredictionWriter {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, Closed>,
                                           .has = Has::blocks | Has::files,
                                           .parallel_by_default = true,
                                           .stateless = true};

    /// An empty path: rows are not written.
    PredictionWriter(const std::string& path, Writing writing,
                     std::shared_ptr<const Market> market) {
        if (!path.empty()) writer_.emplace(path, writing);
        market_ = std::move(market);
    }

    void on(const Opened& opened) {
        if (writer_) writer_->open({}, opened.context);
    }
    void operator()(const Prediction& prediction);
    void on(Flush) {
        if (writer_) writer_->flush();
    }
    void on(Closed) {
        if (writer_) writer_->close();
    }
    /// Whether rows wait for a flush.
    [[nodiscard]] bool holds_rows() { return writer_ && !writer_->rows().empty(); }
    [[nodiscard]] bool blocks() const noexcept { return writer_ && writer_->may_block(); }
    [[nodiscard]] std::vector<FileUse> files() const {
        return writer_ ? writer_->files() : std::vector<FileUse>{};
    }

  private:
    std::optional<RowWriter> writer_;
    std::shared_ptr<const Market> market_;
};

/// Rows of the form in which quotes are read, behind a header.
class QuoteWriter {
  public:
    static constexpr FunctionTraits traits{
        .hears = events<Opened, Flush, Closed>, .has = Has::blocks | Has::files, .stateless = true};

    QuoteWriter(const std::string& path, Writing writing, std::shared_ptr<const Market> market)
        : writer_(path, writing), market_(std::move(market)) {}

    void on(const Opened& opened) {
        writer_.open("symbol,time,bid,ask,bid_size,ask_size\n", opened.context);
    }
    void operator()(const Quote& quote);
    void on(Flush) { writer_.flush(); }
    void on(Closed) { writer_.close(); }
    [[nodiscard]] bool blocks() const noexcept { return writer_.may_block(); }
    [[nodiscard]] std::vector<FileUse> files() const { return writer_.files(); }

  private:
    RowWriter writer_;
    std::shared_ptr<const Market> market_;
};

}  // namespace strid::apps::trading
