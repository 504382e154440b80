// SPDX-License-Identifier: Apache-2.0
//
// The answer of a run, in numbers that two runs can be compared by, and the same numbers by a plain
// loop over the same stream. Of every window the volume is compared, of those that one of the first
// quotes completes also the forecast, bit by bit.
//
// Results may be timed: each from the moment at which the last quote of its window was due.
//
// Threads: take on one; delivered by any; the timing by the emitter while all results are out; the
// rest when the run is over.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include <trading/price_model.hpp>
#include <trading/quote.hpp>

#include <strid/base/clock.hpp>
#include <strid/base/histogram.hpp>

#include "feed.hpp"
#include "timetable.hpp"

namespace strid::bench {

struct Checksum {
    std::uint64_t windows = 0;
    std::uint64_t volumes = 0;
    std::uint64_t forecasts = 0;  ///< windows compared by their forecast
    std::uint64_t prices = 0;

    void add_window(std::uint64_t symbol, std::uint64_t window, std::int64_t volume) noexcept {
        ++windows;
        volumes += static_cast<std::uint64_t>(volume) * (symbol + 1) * (window + 1);
    }
    void add_forecast(std::uint64_t symbol, std::uint64_t window, double price) noexcept {
        ++forecasts;
        prices += std::bit_cast<std::uint64_t>(price) * (2 * symbol + 1) * (2 * window + 1);
    }
    friend bool operator==(const Checksum&, const Checksum&) = default;
};

class Answer {
  public:
    /// Forecasts are compared where a quote before this number completes the window.
    Answer(std::uint32_t symbols, std::uint64_t forecasts_before)
        : next_(symbols, 0), forecasts_before_(forecasts_before) {}

    void take(const apps::trading::Prediction& prediction) noexcept {
        in_order_ = in_order_ && prediction.window == next_[prediction.symbol]++;
        checksum_.add_window(prediction.symbol, prediction.window, prediction.forecast.volume);
        if (prediction.forecast.number < forecasts_before_) {
            checksum_.add_forecast(prediction.symbol, prediction.window, prediction.forecast.price);
        }
        if (due_ns_ != nullptr) record_latency(prediction.forecast.number);
        // release: pairs with the acquire in delivered().
        delivered_.store(checksum_.windows, std::memory_order_release);
    }
    [[nodiscard]] std::uint64_t delivered() const noexcept {
        // acquire: pairs with the release in take().
        return delivered_.load(std::memory_order_acquire);
    }

    /// Times the results of the quotes from number `first_quote` on, which are due at these times
    /// after `begin_ns`. The consumer of the results sees this by the quotes that are sent
    /// afterwards.
    void time_results(std::uint64_t first_quote, std::int64_t begin_ns, const Timetable& due_ns) {
        latency_.clear();
        first_timed_ = first_quote;
        begin_ns_ = begin_ns;
        due_ns_ = &due_ns;
    }
    void stop_timing() noexcept { due_ns_ = nullptr; }
    /// 0 where there was no result.
    [[nodiscard]] double latency_seconds(double percent) const {
        return static_cast<double>(latency_.percentile(percent)) / 1e9;
    }

    /// Whether each symbol's windows came in order, none missing in between.
    [[nodiscard]] bool in_order() const noexcept { return in_order_; }
    [[nodiscard]] const Checksum& checksum() const noexcept { return checksum_; }

  private:
    void record_latency(std::uint64_t number) noexcept {
        const std::uint64_t position = number - first_timed_;
        if (position >= due_ns_->size()) return;
        latency_.record(now_ns() - begin_ns_ - (*due_ns_)[position]);
    }

    std::vector<std::uint64_t> next_;  // window, by symbol
    std::uint64_t forecasts_before_;
    bool in_order_ = true;
    Checksum checksum_;
    std::atomic<std::uint64_t> delivered_{0};
    const Timetable* due_ns_ = nullptr;  // null: no timing
    std::uint64_t first_timed_ = 0;
    std::int64_t begin_ns_ = 0;
    Histogram latency_;
};

/// The numbers of the first `quotes` of a stream.
[[nodiscard]] inline Checksum sequential_checksum(const FeedOptions& options,
                                                  const apps::trading::PriceModel& model,
                                                  std::uint64_t quotes,
                                                  std::uint64_t forecasts_before) {
    struct Symbol {
        std::vector<apps::trading::Quote> quotes;  // the first ones: all that forecasts need
        std::deque<std::int64_t> volumes;
        std::int64_t volume = 0;  // of the last `length` quotes
        std::uint64_t count = 0;
    };
    std::vector<Symbol> symbols(options.symbols);
    Checksum checksum;
    for (Feed feed(options); feed.quotes() != quotes; feed.pop()) {
        const apps::trading::Quote& quote = feed.front();
        Symbol& symbol = symbols[quote.symbol];
        symbol.volumes.push_back(quote.bid_volume + quote.ask_volume);
        symbol.volume += symbol.volumes.back();
        if (symbol.volumes.size() > options.length) {
            symbol.volume -= symbol.volumes.front();
            symbol.volumes.pop_front();
        }
        const bool forecasts = quote.number < forecasts_before;
        if (forecasts) symbol.quotes.push_back(quote);
        if (++symbol.count < options.length) continue;
        const std::uint64_t start = symbol.count - options.length;
        if (start % options.slide != 0) continue;
        const std::uint64_t window = start / options.slide;
        checksum.add_window(quote.symbol, window, symbol.volume);
        if (!forecasts) continue;
        const std::vector<apps::trading::Quote> content(
            symbol.quotes.end() - static_cast<std::ptrdiff_t>(options.length), symbol.quotes.end());
        checksum.add_forecast(quote.symbol, window, model(content).price);
    }
    return checksum;
}

}  // namespace strid::bench
