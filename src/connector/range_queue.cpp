// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/connector/range_queue.hpp>

namespace strid {

// From the last to the first: a text that was changed twice gets back what it was before both.
void ChangedText::undo_from(const char* place) noexcept {
    while (!changes_.empty() && changes_.back().begin >= place) {
        const Change& change = changes_.back();
        std::copy_n(kept_.data() + change.kept_at, change.bytes, change.begin);
        kept_.resize(change.kept_at);
        changes_.pop_back();
    }
}

void RangeQueue::push(TextRange&& text) {
    STRID_ASSERT(has_room());
    ParsedRange& range = at(count_);
    range.text = std::move(text);
    range.parsed_to = range.text.begin;
    range.lines = 0;
    range.has_rows = false;
    range.number_.store(first_ + count_, std::memory_order_relaxed);
    ++count_;
    // Release: pairs with the claims below.
    range.state_.store(ParsedRange::State::waiting, std::memory_order_release);
    notify_tasks();
}

void RangeQueue::pop() noexcept {
    ParsedRange& range = at(0);
    range.forget_rows();
    range.row_ends.clear();
    range.changes.forget();
    range.text = {};
    range.state_.store(ParsedRange::State::free, std::memory_order_relaxed);
    ++first_;
    --count_;
}

bool RangeQueue::take(ParsedRange& range) noexcept {
    auto state = ParsedRange::State::waiting;
    // Acquire: pairs with the release in parsed().
    if (range.state_.compare_exchange_strong(state, ParsedRange::State::parsed,
                                             std::memory_order_acquire)) {
        return true;
    }
    return state == ParsedRange::State::parsed;
}

void RangeQueue::close() noexcept {
    is_closed_.store(true, std::memory_order_release);  // pairs with is_closed()
    notify_tasks();
}

ParsedRange* RangeQueue::claim() noexcept {
    for (;;) {
        ParsedRange* oldest = nullptr;
        for (ParsedRange* range : places_) {
            if (range->state_.load(std::memory_order_relaxed) != ParsedRange::State::waiting) {
                continue;
            }
            if (oldest == nullptr || range->number_.load(std::memory_order_relaxed) <
                                         oldest->number_.load(std::memory_order_relaxed)) {
                oldest = range;
            }
        }
        if (oldest == nullptr) return nullptr;
        auto state = ParsedRange::State::waiting;
        // Acquire: pairs with the release in push().
        if (oldest->state_.compare_exchange_strong(state, ParsedRange::State::claimed,
                                                   std::memory_order_acquire)) {
            return oldest;
        }
    }
}

void RangeQueue::parsed(ParsedRange& range) noexcept {
    // Release: pairs with the acquire in take().
    range.state_.store(ParsedRange::State::parsed, std::memory_order_release);
    source_->notify();
}

}  // namespace strid
