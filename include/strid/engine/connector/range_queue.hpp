// SPDX-License-Identifier: Apache-2.0
//
// The ranges of a source, in the order of its text, between the source, which reads them and emits
// their rows, and the tasks that parse them. The oldest is at hand once the source has begun it.
//
// Threads: claim(), parsed(), is_closed() by the tasks, all others by the source. Invariant: ranges
// first_ .. first_ + count_ are in use, at places that are their numbers modulo the places, and
// only the source frees one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <strid/engine/connector/parsed_range.hpp>
#include <strid/runtime/task.hpp>

namespace strid {

class RangeQueue {
  public:
    /// At least 2 places, which outlive it. `source` is the task of the source.
    RangeQueue(std::vector<ParsedRange*> places, runtime::Task& source)
        : places_(std::move(places)), source_(&source) {}
    /// Before the run: it is notified of ranges, and of the end.
    void add_task(runtime::Task& task) { tasks_.push_back(&task); }

    // ---- the source ----

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] bool has_room() const noexcept { return count_ != places_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    /// The range `index` places behind the oldest.
    [[nodiscard]] ParsedRange& at(std::size_t index) noexcept {
        return *places_[(first_ + index) % places_.size()];
    }
    /// Where there is room.
    void push(TextRange&& text);
    /// Frees the oldest, which the source has claimed or which is parsed.
    void pop() noexcept;
    /// True where the source has the range now, parsed or not; false while a task parses it.
    [[nodiscard]] bool take(ParsedRange& range) noexcept;
    /// No range will come any more: the tasks end.
    void close() noexcept;

    // ---- the tasks ----

    /// The oldest range that waits; null: none does.
    [[nodiscard]] ParsedRange* claim() noexcept;
    /// The claimed range is parsed.
    void parsed(ParsedRange& range) noexcept;
    [[nodiscard]] bool is_closed() const noexcept {
        return is_closed_.load(std::memory_order_acquire);  // pairs with close()
    }
    /// Makes tasks that have nothing to do let go of memory.
    void notify_tasks() noexcept {
        for (runtime::Task* task : tasks_) task->notify();
    }

  private:
    std::vector<ParsedRange*> places_;
    std::uint64_t first_ = 0;
    std::size_t count_ = 0;
    runtime::Task* source_;
    std::vector<runtime::Task*> tasks_;
    std::atomic<bool> is_closed_{false};
};

}  // namespace strid
