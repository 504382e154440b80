// SPDX-License-Identifier: Apache-2.0
//
// The names of the symbols of a run by number, and the form in which prices and times are written.
// The source adds symbols, the writers ask for their names.
//
// Invariant: a symbol keeps its number, and its name keeps its place in memory.
//
// Threads: any; members lock.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <strid/base/time.hpp>
#include <strid/base/time_text.hpp>
#include <strid/state/bytes.hpp>

namespace strid::apps::trading {

/// Decimal places of a price of NASDAQ: a tick is a hundredth of a cent.
inline constexpr unsigned itch_decimals = 4;
/// A price of 10^15 ticks and sizes of 10^12 can be added up in windows of any length.
inline constexpr unsigned decimals_max = 9;
inline constexpr std::int64_t ticks_max = 1'000'000'000'000'000;
inline constexpr std::int64_t size_max = 1'000'000'000'000;
inline constexpr std::size_t symbol_bytes_max = 64;

class Market {
  public:
    /// A tick is 10^-decimals, times in numbers are of `unit_ns` nanoseconds.
    Market(unsigned decimals, std::int64_t unit_ns);

    /// The number of a symbol that has none yet: 0, 1, ...
    [[nodiscard]] std::uint64_t add_symbol(std::string_view name);
    /// Valid as long as the market.
    [[nodiscard]] std::string_view name_of(std::uint64_t symbol) const;

    /// Times are written like the first one that was read.
    void note_time_form(TimeForm form);
    void append_time(std::string& row, EventTime time) const;

    [[nodiscard]] unsigned decimals() const noexcept { return decimals_; }
    [[nodiscard]] const TimeNotation& notation() const noexcept { return notation_; }
    /// The price of ticks that need not be whole.
    [[nodiscard]] double price_of(double ticks) const noexcept { return ticks / ticks_per_unit_; }
    /// The exact price.
    void append_price(std::string& row, std::int64_t ticks) const;

    // As strid/state/codec.hpp says: names and the form of times.
    void save(StateWriter& writer) const;
    void load(StateReader& reader);

  private:
    const unsigned decimals_;
    const double ticks_per_unit_;
    const TimeNotation notation_;
    mutable std::mutex mutex_;
    std::deque<std::string> names_;  // by number
    TimeForm form_{.kind = TimeForm::Kind::unknown};
};

/// The market as a part of the state of the source that adds its symbols.
class SavedMarket {
  public:
    explicit SavedMarket(std::shared_ptr<Market> market) : market_(std::move(market)) {}
    SavedMarket(const SavedMarket&) = default;
    SavedMarket& operator=(const SavedMarket&) = delete;
    /// The state goes to a source of the same market.
    SavedMarket& operator=(SavedMarket&& /*other*/) noexcept { return *this; }
    ~SavedMarket() = default;

    void save(StateWriter& writer) const { market_->save(writer); }
    void load(StateReader& reader) { market_->load(reader); }

  private:
    std::shared_ptr<Market> market_;
};

/// Reads a price, digits with a decimal point or without, as ticks of 10^-decimals. False: it is no
/// such text, has more places that count, or is more than ticks_max.
[[nodiscard]] bool read_ticks(std::string_view text, unsigned decimals,
                              std::int64_t& ticks) noexcept;

}  // namespace strid::apps::trading
