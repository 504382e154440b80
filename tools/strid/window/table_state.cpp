// SPDX-License-Identifier: Apache-2.0
#include "table_state.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <strid/memory/recycling.hpp>
#include <strid/state/codec.hpp>

namespace strid::tool {

namespace {

using Words = memory::RecyclingAllocator<std::uint64_t>;

static_assert(alignof(TableSketch) <= alignof(std::uint64_t) &&
              sizeof(TableSketch) % sizeof(std::uint64_t) == 0);

constexpr std::size_t words_in_block(std::size_t words, std::size_t sketches) noexcept {
    return words + sketches * (sizeof(TableSketch) / sizeof(std::uint64_t));
}

}  // namespace

void TableState::take_block(std::size_t words, std::size_t sketches) {
    std::uint64_t* const block = Words{}.allocate(words_in_block(words, sketches));
    here_ = {reinterpret_cast<std::uintptr_t>(block), words, sketches, in_block};
}

void TableState::free_memory() noexcept {
    Words{}.deallocate(block(), words_in_block(block_words(), block_sketches()));
}

// A sketch of no values owns no memory yet.
void TableState::make_block(const TablePlan& plan) {
    take_block(plan.words, plan.sketches);
    std::fill_n(block(), plan.words, std::uint64_t{0});
    if (plan.sketches == 0) return;
    TableSketch* sketch = sketches().data();
    for (const TableCell& cell : plan.cells) {
        if (is_sketch(cell.kind)) std::construct_at(sketch++, new_sketch(cell));
    }
}

TableState::TableState(std::string_view text) {
    KeptText kept(text);
    take_block(0, 1);
    std::construct_at(sketches().data(), std::move(kept));
}

void TableState::copy_block(const TableState& other) {
    take_block(block_words(), block_sketches());
    std::copy_n(other.block(), block_words(), block());
    if (block_sketches() == 0) return;
    try {
        const auto sketches_of_other = other.sketches();
        std::uninitialized_copy(sketches_of_other.begin(), sketches_of_other.end(),
                                sketches().data());
    } catch (...) {
        free_memory();
        throw;
    }
}

void TableState::save(StateWriter& writer) const {
    writer.length(has_block() ? 1 : 0);
    if (!has_block()) return state::save(writer, here_);
    writer.length(block_words());
    writer.bytes(std::as_bytes(std::span(block(), block_words())));
    writer.length(block_sketches());
    for (const TableSketch& sketch : sketches()) state::save(writer, sketch);
}

void TableState::load(StateReader& reader) {
    TableState loaded;
    if (reader.choice(2) == 0) {
        state::load(reader, loaded.here_);
        if (loaded.has_block()) {
            loaded.here_.back() = 0;
            reader.refuse("is too large for a word of a window");
        }
    } else {
        std::vector<std::uint64_t> words(reader.length(sizeof(std::uint64_t)));
        const auto bytes = reader.bytes(words.size() * sizeof(std::uint64_t));
        if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
        std::vector<TableSketch> sketches(reader.length(sizeof(std::uint64_t)));
        for (TableSketch& sketch : sketches) state::load(reader, sketch);
        if (words.empty() && sketches.empty()) reader.refuse("is a window of nothing");
        loaded.take_block(words.size(), sketches.size());
        std::copy(words.begin(), words.end(), loaded.block());
        std::uninitialized_move(sketches.begin(), sketches.end(), loaded.sketches().data());
    }
    *this = std::move(loaded);
}

void TableState::free_block() noexcept {
    if (block_sketches() != 0) std::destroy_n(sketches().data(), block_sketches());
    free_memory();
}

}  // namespace strid::tool
