// SPDX-License-Identifier: Apache-2.0
//
// The state of a window: the words with the cells that the plan has laid out, one behind the other,
// and the sketches. It is as large as the plan needs. Up to four words (a sum with a count, two
// extremes) lie in the object itself, which half a cache line has room for; more words, and
// sketches, in a block of recycled memory.
//
// Threads: as any state of an aggregate. Invariant: the last word tells both forms apart. It is
// `in_block`, and the words before it are the address of the block, the number of its words and
// that of its sketches; or it is the last word of a cell, a count or a kind, which is less.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <strid/state/bytes.hpp>

#include "table_plan.hpp"
#include "table_sketch.hpp"

namespace strid::tool {

class TableState {
  public:
    /// Of no row, for a plan whose words lie here.
    TableState() = default;
    /// Of no row.
    explicit TableState(const TablePlan& plan) {
        if (plan.has_blocks()) make_block(plan);
    }
    /// The text that is written of a window, in the place of its state.
    explicit TableState(std::string_view text);
    TableState(const TableState& other) : here_(other.here_) {
        if (has_block()) copy_block(other);
    }
    TableState(TableState&& other) noexcept : here_(other.here_) { other.here_.back() = 0; }
    TableState& operator=(const TableState& other) { return *this = TableState(other); }
    TableState& operator=(TableState&& other) noexcept {
        if (has_block()) {
            std::swap(here_, other.here_);
        } else {
            here_ = other.here_;
            other.here_.back() = 0;
        }
        return *this;
    }
    ~TableState() {
        if (has_block()) free_block();
    }

    /// As strid/state/codec.hpp says. A state says itself how large it is: it is loaded without the
    /// plan, and results that wait to be written have sketches that no plan has.
    void save(StateWriter& writer) const;
    void load(StateReader& reader);

    [[nodiscard]] std::uint64_t* words() noexcept { return has_block() ? block() : here_.data(); }
    [[nodiscard]] const std::uint64_t* words() const noexcept {
        return has_block() ? block() : here_.data();
    }
    /// Of a state in a block.
    [[nodiscard]] std::span<TableSketch> sketches() const noexcept {
        return {reinterpret_cast<TableSketch*>(block() + block_words()), block_sketches()};
    }

  private:
    static constexpr std::uint64_t in_block = std::uint64_t{1} << 63;

    [[nodiscard]] bool has_block() const noexcept { return (here_.back() & in_block) != 0; }
    [[nodiscard]] std::uint64_t* block() const noexcept {
        return reinterpret_cast<std::uint64_t*>(here_[0]);
    }
    [[nodiscard]] std::size_t block_words() const noexcept { return here_[1]; }
    [[nodiscard]] std::size_t block_sketches() const noexcept { return here_[2]; }

    void take_block(std::size_t words, std::size_t sketches);
    void make_block(const TablePlan& plan);
    void copy_block(const TableState& other);
    void free_block() noexcept;
    void free_memory() noexcept;

    std::array<std::uint64_t, TablePlan::words_in_state> here_{};
};
static_assert(sizeof(TableState) == 32);

}  // namespace strid::tool
