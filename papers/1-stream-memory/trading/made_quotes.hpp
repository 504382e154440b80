// SPDX-License-Identifier: Apache-2.0
//
// A source of quotes that are made up: days of the generator (trading_day.hpp), one behind the
// other, of the paper's number of symbols. The same seed gives the same quotes. One thread at a
// time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <strid/connector/pace.hpp>
#include <strid/operator/source.hpp>

#include "market.hpp"
#include "quote.hpp"
#include "trading_day.hpp"

namespace strid::apps::trading {

class MadeQuotes {
  public:
    using record_type = Quote;
    static constexpr SourceTraits traits{
        .hears = events<Opened, Stopped>,
        .has = Has::wake_at_ns | Has::fraction_done | Has::replicas_used};

    MadeQuotes(std::uint64_t count, std::uint64_t seed, std::shared_ptr<Market> market)
        : count_(count), market_(std::move(market)), day_(shape_of(count), symbol_count, seed) {}
    MadeQuotes(const MadeQuotes& other)
        : count_(other.count_), market_(other.market_), day_(other.day_), made_(other.made_) {}
    MadeQuotes& operator=(const MadeQuotes&) = delete;
    ~MadeQuotes() = default;

    void on(const Opened& opened) {
        if (opened.context.replica != 0) {
            made_ = count_;
            return;
        }
        for (std::uint32_t symbol = 0; symbol != symbol_count; ++symbol) {
            symbols_[symbol] = market_->add_symbol(fmt::format("S{}", symbol));
        }
        market_->note_time_form({.kind = TimeForm::Kind::integer});
    }
    void on(Stopped) noexcept { is_stopped_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] static std::size_t replicas_used(std::size_t /*replicas*/) noexcept { return 1; }
    [[nodiscard]] static std::int64_t wake_at_ns() noexcept { return 0; }
    [[nodiscard]] double fraction_done() const noexcept { return fraction_done_.load(); }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (is_stopped_.load(std::memory_order_relaxed)) return SourceStatus::finished;
        for (; budget > 0 && made_ != count_; --budget) {
            ++made_;
            if (!emit(next())) break;
        }
        fraction_done_.store(static_cast<double>(made_) / static_cast<double>(count_));
        return made_ == count_ ? SourceStatus::finished : SourceStatus::more;
    }
    auto state() { return std::tie(day_, made_); }

  private:
    /// All of them in a day, at the most the quotes of the paper's.
    static DayShape shape_of(std::uint64_t count) {
        DayShape shape;
        shape.quotes = std::min(shape.quotes, static_cast<double>(count));
        return shape;
    }
    Quote next() {
        Quote quote;
        while (!day_.next(quote)) day_.begin(shape_of(count_));
        quote.symbol = symbols_[quote.symbol];
        return quote;
    }

    std::uint64_t count_;
    std::shared_ptr<Market> market_;
    TradingDay day_;
    std::array<std::uint64_t, symbol_count> symbols_{};  // their numbers in the market
    std::uint64_t made_ = 0;
    SharedFraction fraction_done_;
    // Relaxed: a poll that does not see it yet is followed by another.
    std::atomic<bool> is_stopped_{false};
};

}  // namespace strid::apps::trading
