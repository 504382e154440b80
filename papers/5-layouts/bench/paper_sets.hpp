// SPDX-License-Identifier: Apache-2.0
//
// The two hash sets of paper 5, "Hash Map Example" and "Optimized Hash Map", as the slides describe
// them: a table with an entry for each place that a hash names. The simple one keeps a counter and
// a pointer to the values; the optimized one keeps the first value in the entry itself, so that
// only a collision needs a second access. Threads: one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace strid::bench {

/// The table has as many entries as there will be values, rounded up to a power of two.
class TableOfEntries {
  public:
    explicit TableOfEntries(std::size_t values) : mask_(std::bit_ceil(values) - 1) {}
    [[nodiscard]] std::size_t entries() const noexcept { return mask_ + 1; }
    /// Values are scrambled already: their lower bits are as good as any hash.
    [[nodiscard]] std::size_t place_of(std::uint32_t value) const noexcept { return value & mask_; }

  private:
    std::size_t mask_;
};

/// A longer array with one more value.
[[nodiscard]] inline std::unique_ptr<std::uint32_t[]> with_value(
    const std::unique_ptr<std::uint32_t[]>& values, std::uint32_t count, std::uint32_t value) {
    auto longer = std::make_unique<std::uint32_t[]>(count + 1);
    for (std::uint32_t i = 0; i != count; ++i) longer[i] = values[i];
    longer[count] = value;
    return longer;
}

class SimpleSet {
  public:
    explicit SimpleSet(std::size_t values) : table_(values), entries_(table_.entries()) {}
    void insert(std::uint32_t value) {
        Entry& entry = entries_[table_.place_of(value)];
        entry.values = with_value(entry.values, entry.count, value);
        ++entry.count;
    }
    [[nodiscard]] bool contains(std::uint32_t value) const {
        const Entry& entry = entries_[table_.place_of(value)];
        for (std::uint32_t i = 0; i != entry.count; ++i) {
            if (entry.values[i] == value) return true;
        }
        return false;
    }

  private:
    struct Entry {
        std::uint32_t count = 0;
        std::unique_ptr<std::uint32_t[]> values;
    };
    TableOfEntries table_;
    std::vector<Entry> entries_;
};

class OptimizedSet {
  public:
    explicit OptimizedSet(std::size_t values) : table_(values), entries_(table_.entries()) {}
    void insert(std::uint32_t value) {
        Entry& entry = entries_[table_.place_of(value)];
        if (entry.count == 0) {
            entry.first = value;
        } else {
            entry.others = with_value(entry.others, entry.count - 1, value);
        }
        ++entry.count;
    }
    [[nodiscard]] bool contains(std::uint32_t value) const {
        const Entry& entry = entries_[table_.place_of(value)];
        if (entry.count == 0) return false;
        if (entry.first == value) return true;
        for (std::uint32_t i = 1; i < entry.count; ++i) {
            if (entry.others[i - 1] == value) return true;
        }
        return false;
    }

  private:
    struct Entry {
        std::uint32_t count = 0;
        std::uint32_t first = 0;
        std::unique_ptr<std::uint32_t[]> others;
    };
    static_assert(sizeof(std::unique_ptr<std::uint32_t[]>) == 8);
    TableOfEntries table_;
    std::vector<Entry> entries_;
};

}  // namespace strid::bench
