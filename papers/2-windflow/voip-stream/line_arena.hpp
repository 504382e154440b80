// SPDX-License-Identifier: Apache-2.0
//
// The memory of a replica's filters, in lines of 64 bytes: chunks that are large enough for huge
// pages, as each line of a filter lies in another page than the last. Lines stay until the arena
// goes. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <strid/memory/table_allocator.hpp>

namespace strid::apps::voip_stream {

class LineArena {
  public:
    /// For `lines` of all shards together, of which a replica may have a part.
    explicit LineArena(std::size_t lines)
        : lines_(lines), chunk_lines_(std::min(lines, chunk_lines_max)) {}
    /// A copy is empty, as replicas are copied before they have seen a record.
    LineArena(const LineArena& other) : lines_(other.lines_), chunk_lines_(other.chunk_lines_) {}
    LineArena(LineArena&&) noexcept = default;
    ~LineArena() = default;
    LineArena& operator=(const LineArena&) = delete;
    LineArena& operator=(LineArena&&) noexcept = default;

    /// Before the first record: the part of one of so many replicas is there at once. Otherwise
    /// the first records of a run would wait for pages, the longer the larger these are.
    void make_ready(std::size_t replicas) {
        if (chunks_.empty()) chunks_.emplace_back((lines_ + replicas - 1) / replicas);
    }

    /// `count` lines with all bits zero.
    template <class Line>
    [[nodiscard]] std::span<Line> take(std::size_t count) {
        static_assert(sizeof(Line) == sizeof(Raw) && alignof(Line) == alignof(Raw));
        if (chunks_.empty() || chunks_.back().size() - used_ < count) {
            chunks_.emplace_back(std::max(count, chunk_lines_));
            used_ = 0;
        }
        auto* const first = reinterpret_cast<Line*>(chunks_.back().data() + used_);
        used_ += count;
        std::uninitialized_value_construct_n(first, count);
        return {first, count};
    }

  private:
    static constexpr std::size_t chunk_lines_max = std::size_t{1} << 17;  // 8 MiB

    struct alignas(64) Raw {
        std::array<std::byte, 64> bytes;
    };

    std::size_t lines_;
    std::size_t chunk_lines_;
    std::vector<std::vector<Raw, memory::TableAllocator<Raw>>> chunks_;
    std::size_t used_ = 0;  // lines of the last chunk
};

}  // namespace strid::apps::voip_stream
