// SPDX-License-Identifier: Apache-2.0
//
// Decaying counts by number of one shard: `lanes` of them side by side, for what is counted of the
// same numbers at the same time. Two ways to keep the sums: in the cells of a filter, at most too
// large, or in a hash table, exact (README.md, "Rules").
//
// Invariant: a sum is never below what was added to its number, scaled down. One thread at a time;
// nothing is allocated for a number by a filter.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include <boost/unordered/unordered_flat_map.hpp>

#include "call.hpp"
#include "fullness.hpp"
#include "growth.hpp"
#include "line_arena.hpp"

namespace strid::apps::voip_stream {

/// Rounded to binary32. The barrier keeps the rounding: GCC 12's vectorizer of straight-line code
/// (-O3) leaves it out where the sums of two lanes are widened again.
inline float rounded(double sum) noexcept {
    auto narrow = static_cast<float>(sum);
#ifdef __x86_64__
    asm("" : "+x"(narrow));
#else
    asm("" : "+m"(narrow));
#endif
    return narrow;
}

/// Sums below it are forgotten when a period begins.
inline constexpr float smallest_sum = 1e-6F;

/// The sum scaled down to the beginning of the next period.
inline float scaled_down(float sum) noexcept {
    static const double factor = std::exp(-static_cast<double>(Growth::period_length));
    const float scaled = rounded(static_cast<double>(sum) * factor);
    return scaled < smallest_sum ? 0.0F : scaled;
}

/// A blocked time-decaying filter: a line of 16 cells for each lane, of which a number has one in
/// each of 4 quarters. All lanes of a number lie beside each other.
template <std::size_t lanes>
class FilterCells {
  public:
    static constexpr bool is_filter = true;
    static constexpr std::size_t cells_per_line = 16;
    static constexpr std::size_t quarters = 4;

    struct alignas(64) Line {
        std::array<float, cells_per_line> cells{};
    };
    static_assert(sizeof(Line) == 64);

    /// The lines and cells of a number.
    class Place {
      public:
        [[nodiscard]] float sum(std::size_t lane) const noexcept {
            const auto& cells = lines_[lane].cells;
            return std::min(std::min(cells[at_[0]], cells[at_[1]]),
                            std::min(cells[at_[2]], cells[at_[3]]));
        }
        void set(std::size_t lane, float sum) noexcept {
            auto& cells = lines_[lane].cells;
            for (const std::uint8_t at : at_) cells[at] = std::max(cells[at], sum);
        }

      private:
        friend class FilterCells;
        Place(Line* lines, Key key) noexcept : lines_(lines) {
            for (std::size_t i = 0; i < quarters; ++i) {
                at_[i] = static_cast<std::uint8_t>(4 * i + (key >> (8 + 2 * i) & 3));
            }
        }

        Line* lines_;
        std::array<std::uint8_t, quarters> at_;
    };

    /// The arena outlives it.
    FilterCells(std::uint64_t lines, LineArena& arena)
        : count_(lines), lines_(arena.take<Line>(lines * lanes)) {}

    [[nodiscard]] Place find_or_make(Key key) noexcept { return {line_of(key), key}; }
    [[nodiscard]] float sum_of(Key key, std::size_t lane) noexcept {
        return Place(line_of(key), key).sum(lane);
    }
    void bring_near(Key key) noexcept {
        Line* const first = line_of(key);
        for (std::size_t lane = 0; lane < lanes; ++lane) __builtin_prefetch(first + lane, 1);
    }
    void scale_down(std::size_t lane) noexcept {
        for (std::size_t at = lane; at < lines_.size(); at += lanes) {
            for (float& cell : lines_[at].cells) cell = scaled_down(cell);
        }
    }
    [[nodiscard]] std::size_t cells() const noexcept { return count_ * cells_per_line; }
    /// Cells of the first lane that are not zero.
    [[nodiscard]] std::size_t cells_used() const noexcept {
        std::size_t used = 0;
        for (std::size_t at = 0; at < lines_.size(); at += lanes) {
            for (const float cell : lines_[at].cells) used += cell > 0 ? 1 : 0;
        }
        return used;
    }
    /// Numbers in it, as cells that are used show: of 4 cells a line and quarter each takes one.
    [[nodiscard]] double numbers() const noexcept {
        return -4.0 * static_cast<double>(count_) * std::log(free_share(cells_used(), cells()));
    }

    void save(StateWriter& writer) const { save_lines<Line>(writer, lines_); }
    void load(StateReader& reader) { load_lines<Line>(reader, lines_); }

  private:
    [[nodiscard]] Line* line_of(Key key) noexcept {
        return &lines_[((key >> 32) * count_ >> 32) * lanes];
    }

    std::uint64_t count_;
    std::span<Line> lines_;
};

/// The same by number, exactly.
template <std::size_t lanes>
class ExactCells {
    using Sums = std::array<float, lanes>;

  public:
    static constexpr bool is_filter = false;

    class Place {
      public:
        [[nodiscard]] float sum(std::size_t lane) const noexcept { return (*sums_)[lane]; }
        void set(std::size_t lane, float sum) noexcept { (*sums_)[lane] = sum; }

      private:
        friend class ExactCells;
        explicit Place(Sums* sums) noexcept : sums_(sums) {}
        Sums* sums_;
    };

    ExactCells(std::uint64_t /*lines*/, LineArena& /*arena*/) {}

    [[nodiscard]] Place find_or_make(Key key) { return Place(&sums_[key]); }
    [[nodiscard]] float sum_of(Key key, std::size_t lane) const {
        const auto found = sums_.find(key);
        return found == sums_.end() ? 0.0F : found->second[lane];
    }
    void bring_near(Key /*key*/) noexcept {}
    void scale_down(std::size_t lane) {
        for (auto& [number, sums] : sums_) sums[lane] = scaled_down(sums[lane]);
        boost::unordered::erase_if(sums_, [](const auto& one) {
            return std::ranges::all_of(one.second, [](float sum) { return sum == 0; });
        });
    }
    auto state() { return std::tie(sums_); }

  private:
    struct Hash {
        using is_avalanching = void;
        std::size_t operator()(Key key) const noexcept { return key; }
    };
    boost::unordered_flat_map<Key, Sums, Hash> sums_;
};

/// When something happened and when it is looked at, as weights of the period of the latter.
struct Weights {
    double start;
    double now;
};

/// The period that sums are in.
class Period {
  public:
    /// Calls scale_down() once for each period that has passed since the last call, as long as a
    /// sum may be left.
    template <class ScaleDown>
    void advance(std::int64_t now, const Growth& growth, ScaleDown&& scale_down) {
        if (now < end_) [[likely]]
            return;
        const std::int64_t length = growth.period();
        const std::int64_t begin = now - now % length;
        if (end_ != none) {
            const std::int64_t passed = (begin - end_) / length + 1;
            for (std::int64_t i = 0; i < std::min(passed, periods_of_sum); ++i) scale_down();
        }
        end_ = begin + length;
        begin_ = begin;
    }
    [[nodiscard]] Weights weights(std::int64_t start, std::int64_t now,
                                  const Growth& growth) const noexcept {
        const double weight_now = growth.of(now - begin_);
        return {start == now ? weight_now : growth.of(start - begin_), weight_now};
    }
    auto state() { return std::tie(begin_, end_); }

  private:
    static constexpr std::int64_t none = INT64_MIN;
    /// The largest of all binary32 is below smallest_sum after so many.
    static constexpr std::int64_t periods_of_sum = 4;
    std::int64_t begin_ = 0;
    std::int64_t end_ = none;
};

/// Adds to a sum and returns the count behind it.
template <class Place>
double add(Place& place, std::size_t lane, double quantity, const Weights& weights) noexcept {
    const float sum = rounded(static_cast<double>(place.sum(lane)) + quantity * weights.start);
    place.set(lane, sum);
    return static_cast<double>(sum) / weights.now;
}

/// One count by number: what the operators of the full graph have.
template <template <std::size_t> class Cells>
class Count {
  public:
    Count(std::uint64_t lines, LineArena& arena) : cells_(lines, arena) {}

    double add(Key key, double quantity, std::int64_t start, std::int64_t now,
               const Growth& growth) {
        advance(now, growth);
        auto place = cells_.find_or_make(key);
        return voip_stream::add(place, 0, quantity, period_.weights(start, now, growth));
    }
    double get(Key key, std::int64_t now, const Growth& growth) {
        advance(now, growth);
        return static_cast<double>(cells_.sum_of(key, 0)) / period_.weights(now, now, growth).now;
    }
    void bring_near(Key key) noexcept { cells_.bring_near(key); }
    [[nodiscard]] const Cells<1>& cells() const noexcept { return cells_; }
    auto state() { return std::tie(cells_, period_); }

  private:
    void advance(std::int64_t now, const Growth& growth) {
        period_.advance(now, growth, [this] { cells_.scale_down(0); });
    }

    Cells<1> cells_;
    Period period_;
};

}  // namespace strid::apps::voip_stream
