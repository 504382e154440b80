// SPDX-License-Identifier: Apache-2.0
//
// Quotes of 64 bytes over 2,836 symbols, the shape of the trading application of paper 1 (section
// 5), shared by every implementation that is measured. Prices and volumes are whole numbers, so
// that sums are exact whatever the order of the additions. Plain values, no threads.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include <strid/base/time.hpp>
#include <strid/operator/source.hpp>

namespace strid::bench {

inline constexpr std::uint32_t symbols = 2'836;

struct Quote {
    std::uint64_t symbol;
    EventTime time;
    std::int64_t bid;
    std::int64_t ask;
    std::int64_t bid_volume;
    std::int64_t ask_volume;
    std::uint64_t exchange;
    std::uint64_t number;
};
static_assert(sizeof(Quote) == 64 && std::is_trivially_copyable_v<Quote>);

/// How the stream of a benchmark looks.
struct QuoteShape {
    std::uint32_t symbols = bench::symbols;
    std::int64_t step_ns = 1'000;  ///< Time from one quote to the next.
    /// A quote may lie up to so many positions behind its place.
    std::uint32_t disorder = 0;
};

/// Makes the stream: a xorshift generator gives symbol, prices and volumes.
class QuoteGenerator {
  public:
    explicit QuoteGenerator(QuoteShape shape) noexcept : shape_(shape) {}

    [[gnu::always_inline]] void fill(Quote& quote) noexcept {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        quote.symbol = scaled(state_ >> 32, shape_.symbols);
        const auto behind =
            shape_.disorder == 0
                ? 0
                : static_cast<std::int64_t>(scaled(state_ & 0xffffffff, shape_.disorder + 1));
        quote.time =
            EventTime::of_ns((static_cast<std::int64_t>(number_) - behind) * shape_.step_ns);
        quote.bid = static_cast<std::int64_t>(state_ >> 54);
        quote.ask = quote.bid + 1;
        quote.bid_volume = static_cast<std::int64_t>(state_ >> 44 & 1023);
        quote.ask_volume = quote.bid_volume ^ 1;
        quote.exchange = state_ & 7;
        quote.number = number_++;
    }

  private:
    /// A 32-bit number scaled to [0, limit).
    static std::uint64_t scaled(std::uint64_t number, std::uint32_t limit) noexcept {
        return number * limit >> 32;
    }

    QuoteShape shape_;
    std::uint64_t state_ = 0x9e3779b97f4a7c15ULL;
    std::uint64_t number_ = 0;
};

/// The same as a source of the engine.
struct QuoteSource {
    using record_type = Quote;
    static constexpr SourceTraits traits{.hears = events<>};
    std::uint64_t records;
    QuoteGenerator generator;
    std::uint64_t made = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        QuoteGenerator local = generator;  // in registers
        const std::uint64_t left = records - made;
        const std::uint64_t wanted = left < budget ? left : budget;
        std::uint64_t done = 0;
        for (bool go_on = true; go_on && done != wanted; ++done) {
            Quote quote;
            local.fill(quote);
            go_on = emit(std::move(quote));
        }
        generator = local;
        made += done;
        return made == records ? SourceStatus::finished : SourceStatus::more;
    }
    auto state() { return std::tie(made); }
};

/// The answer of a benchmark, for comparison: results, and sums that no order changes.
struct WindowChecksum {
    std::uint64_t windows = 0;
    std::uint64_t values = 0;
    std::uint64_t where = 0;

    [[gnu::always_inline]] void add(std::uint64_t symbol, std::uint64_t start,
                                    std::int64_t value) noexcept {
        ++windows;
        values += static_cast<std::uint64_t>(value);
        where += (symbol + 1) * (start + 1);
    }
    friend bool operator==(const WindowChecksum&, const WindowChecksum&) = default;
};

}  // namespace strid::bench
