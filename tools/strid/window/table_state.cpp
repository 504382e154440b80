// SPDX-License-Identifier: Apache-2.0
#include "table_state.hpp"

#include <algorithm>
#include <memory>

#include <strid/memory/recycling.hpp>

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

void TableState::free_block() noexcept {
    if (block_sketches() != 0) std::destroy_n(sketches().data(), block_sketches());
    free_memory();
}

}  // namespace strid::tool
