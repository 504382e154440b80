// SPDX-License-Identifier: Apache-2.0
//
// Which pairs of numbers are known, for the callers of one shard: sets of pairs by generation of
// time, of which the last two count; each is a filter of bits or exact (README.md, "Rules").
//
// One thread at a time; a filter allocates nothing for a pair.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "call.hpp"
#include "fullness.hpp"
#include "line_arena.hpp"

namespace strid::apps::voip_stream {

/// Lines of 512 bits; a pair has one bit in each of 8 words.
class FilterPairs {
  public:
    static constexpr bool is_filter = true;
    /// A line is found by 16 bits of the hash.
    static constexpr std::uint64_t lines_max = 65'536;

    /// The arena outlives it.
    FilterPairs(std::uint64_t lines, LineArena& arena) : lines_(arena.take<Line>(lines)) {}

    /// Whether the pair is in it.
    [[nodiscard]] bool has(Key /*calling*/, Key /*called*/, std::uint64_t hash) const noexcept {
        const Line& line = lines_[index_of(hash)];
        std::uint64_t missing = 0;
        for (std::size_t w = 0; w < words; ++w) missing |= ~line.bits[w] & bit_of(hash, w);
        return missing == 0;
    }
    void add(Key /*calling*/, Key /*called*/, std::uint64_t hash) noexcept {
        Line& line = lines_[index_of(hash)];
        for (std::size_t w = 0; w < words; ++w) line.bits[w] |= bit_of(hash, w);
    }
    void clear() noexcept { std::fill(lines_.begin(), lines_.end(), Line{}); }
    void bring_near(std::uint64_t hash) const noexcept {
        __builtin_prefetch(&lines_[index_of(hash)], 1);
    }
    /// Pairs in it, as its bits show.
    [[nodiscard]] double pairs() const noexcept {
        std::size_t used = 0;
        for (const Line& line : lines_) {
            for (const std::uint64_t word : line.bits) {
                used += static_cast<std::size_t>(std::popcount(word));
            }
        }
        return -64.0 * static_cast<double>(lines_.size()) *
               std::log(free_share(used, 512 * lines_.size()));
    }

    void save(StateWriter& writer) const { save_lines<Line>(writer, lines_); }
    void load(StateReader& reader) { load_lines<Line>(reader, lines_); }

  private:
    static constexpr std::size_t words = 8;
    struct alignas(64) Line {
        std::array<std::uint64_t, words> bits{};
    };

    [[nodiscard]] static std::uint64_t bit_of(std::uint64_t hash, std::size_t word) noexcept {
        return std::uint64_t{1} << (hash >> (6 * word) & 63);
    }
    [[nodiscard]] std::size_t index_of(std::uint64_t hash) const noexcept {
        return (hash >> 48) * lines_.size() >> 16;
    }

    std::span<Line> lines_;
};

class ExactPairs {
  public:
    static constexpr bool is_filter = false;

    ExactPairs(std::uint64_t /*lines*/, LineArena& /*arena*/) {}

    [[nodiscard]] bool has(Key calling, Key called, std::uint64_t /*hash*/) const {
        return pairs_.contains({calling, called});
    }
    void add(Key calling, Key called, std::uint64_t /*hash*/) { pairs_.insert({calling, called}); }
    void clear() { pairs_.clear(); }
    void bring_near(std::uint64_t /*hash*/) const noexcept {}
    auto state() { return std::tie(pairs_); }

  private:
    using Pair = std::pair<Key, Key>;
    struct Hash {
        using is_avalanching = void;
        std::size_t operator()(const Pair& pair) const noexcept {
            return hash_of_pair(pair.first, pair.second);
        }
    };
    boost::unordered_flat_set<Pair, Hash> pairs_;
};

/// The variation detector: pairs of this generation and the one before are known.
template <class Pairs>
class Detector {
  public:
    Detector(std::uint64_t lines, LineArena& arena)
        : current_(lines, arena), previous_(lines, arena) {}

    /// Whether the pair was not known; now it is. Generations are `memory` seconds long.
    bool is_new(Key calling, Key called, std::uint64_t hash, std::int64_t now,
                std::int64_t memory) {
        if (now >= end_) [[unlikely]]
            begin_generation(now, memory);
        const bool known = current_.has(calling, called, hash);
        if (known) return false;
        current_.add(calling, called, hash);
        return !previous_.has(calling, called, hash);
    }
    void bring_near(std::uint64_t hash) const noexcept {
        current_.bring_near(hash);
        previous_.bring_near(hash);
    }
    [[nodiscard]] const Pairs& current() const noexcept { return current_; }
    [[nodiscard]] const Pairs& previous() const noexcept { return previous_; }
    auto state() { return std::tie(current_, previous_, end_); }

  private:
    void begin_generation(std::int64_t now, std::int64_t memory) {
        const std::int64_t begin = now - now % memory;
        if (end_ == begin) {
            std::swap(current_, previous_);
        } else {
            previous_.clear();
        }
        current_.clear();
        end_ = begin + memory;
    }

    Pairs current_;
    Pairs previous_;
    std::int64_t end_ = 0;  // of the current generation
};

}  // namespace strid::apps::voip_stream
