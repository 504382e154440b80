// SPDX-License-Identifier: Apache-2.0
//
// A queue in one block of memory whose elements are named by their position in the stream: the
// first element ever pushed is 0, and no push or pop renames another. It grows when it is full, by
// doubling, and never shrinks: a window that has been that long may be so again.
//
// Threads: one. Invariant: the elements are [begin_position, end_position), each in slot `position
// % capacity`, and the capacity is a power of two.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/state/codec.hpp>

namespace strid::window {

template <class T>
class FlatRing {
  public:
    using Position = std::uint64_t;

    FlatRing() = default;

    [[nodiscard]] Position begin_position() const noexcept { return begin_; }
    [[nodiscard]] Position end_position() const noexcept { return end_; }
    [[nodiscard]] std::size_t size() const noexcept {
        return static_cast<std::size_t>(end_ - begin_);
    }
    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

    /// Position must be one of the elements'. O(1).
    [[nodiscard, gnu::always_inline]] T& operator[](Position position) noexcept {
        STRID_ASSERT(position - begin_ < size());
        return slots_[position & mask()];
    }
    [[nodiscard, gnu::always_inline]] const T& operator[](Position position) const noexcept {
        STRID_ASSERT(position - begin_ < size());
        return slots_[position & mask()];
    }
    [[nodiscard, gnu::always_inline]] T& front() noexcept { return (*this)[begin_]; }
    [[nodiscard, gnu::always_inline]] const T& front() const noexcept { return (*this)[begin_]; }
    [[nodiscard, gnu::always_inline]] T& back() noexcept { return (*this)[end_ - 1]; }
    [[nodiscard, gnu::always_inline]] const T& back() const noexcept { return (*this)[end_ - 1]; }

    /// The first position whose element is not `before`, or the end; those before it stand first.
    /// O(log size).
    template <class Before>
    [[nodiscard]] Position partition_point(const Before& before) const {
        Position low = begin_;
        Position high = end_;
        while (low < high) {
            const Position middle = low + (high - low) / 2;
            if (before((*this)[middle])) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /// Amortised O(1): an allocation each time the size passes a power of two for the first time.
    void push_back(T value) {
        if (size() == slots_.size()) [[unlikely]]
            grow();
        slots_[end_ & mask()] = std::move(value);
        ++end_;
    }
    /// Puts a value before the element at `at`, which may be the end: that one and all behind it
    /// are one further on. O(elements behind).
    void insert(Position at, T value) {
        STRID_ASSERT(at - begin_ <= size());
        push_back(std::move(value));
        for (Position last = end_ - 1; last != at; --last) {
            using std::swap;
            swap((*this)[last], (*this)[last - 1]);
        }
    }
    void pop_front() noexcept {
        STRID_ASSERT(!empty());
        free_memory_of(begin_++);
    }
    void pop_back() noexcept {
        STRID_ASSERT(!empty());
        free_memory_of(--end_);
    }
    /// The next element pushed has the position that it would have had.
    void clear() noexcept {
        while (!empty()) pop_front();
    }

    /// Asks for the memory of the first element and of the next one that is pushed.
    void prefetch() const noexcept {
        if (slots_.empty()) return;
        prefetch_object(&slots_[begin_ & mask()]);
        prefetch_object(&slots_[end_ & mask()]);
    }

    [[nodiscard]] bool is_valid() const noexcept {
        return begin_ <= end_ && size() <= slots_.size() &&
               (slots_.empty() || std::has_single_bit(slots_.size()));
    }

    /// As strid/state/codec.hpp says: the positions are kept.
    void save(StateWriter& writer) const
        requires(state::has_codec<T>())
    {
        writer.number(begin_);
        writer.length(size());
        for (Position at = begin_; at != end_; ++at) state::save(writer, slots_[at & mask()]);
    }
    // Calls nothing that records call: they have it inlined as the only ones.
    void load(StateReader& reader)
        requires(state::has_codec<T>())
    {
        begin_ = end_ = reader.number();
        const std::size_t count = reader.length(state::least_bytes<T>());
        if (count > std::numeric_limits<Position>::max() - begin_) {
            reader.refuse("is no position");
        }
        slots_ = std::vector<T>(count == 0 ? 0 : std::bit_ceil(count));
        for (; end_ != begin_ + count; ++end_) slots_[end_ & mask()] = state::loaded<T>(reader);
    }

  private:
    [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }

    /// An element that owns memory frees it now, not when its slot is used again.
    void free_memory_of(Position position) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) slots_[position & mask()] = T{};
    }

    void grow() {
        std::vector<T> larger(slots_.empty() ? 1 : 2 * slots_.size());
        for (Position at = begin_; at != end_; ++at) {
            larger[at & (larger.size() - 1)] = std::move(slots_[at & mask()]);
        }
        slots_ = std::move(larger);
    }

    std::vector<T> slots_;
    Position begin_ = 0;
    Position end_ = 0;
};

}  // namespace strid::window
