// SPDX-License-Identifier: Apache-2.0
//
// The memory of a replica's filters, in lines of 64 bytes: chunks that are large enough for huge
// pages, as each line of a filter lies in another page than the last. Lines stay until the arena
// goes. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <strid/memory/table_allocator.hpp>
#include <strid/state/bytes.hpp>

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

/// Lines of a filter in a snapshot: their number, and those that are not zero, each behind its
/// place. `Line`: bytes without a gap.
template <class Line>
void save_lines(StateWriter& writer, std::span<const Line> lines) {
    static constexpr Line zero{};
    const auto is_used = [](const Line& line) {
        return std::memcmp(&line, &zero, sizeof(Line)) != 0;
    };
    writer.length(lines.size());
    writer.number(static_cast<std::uint64_t>(std::ranges::count_if(lines, is_used)));
    for (const Line& line : lines) {
        if (!is_used(line)) continue;
        writer.number(static_cast<std::uint64_t>(&line - lines.data()));
        writer.bytes(std::as_bytes(std::span(&line, 1)));
    }
}
/// Into lines that are zero. Throws StateError where there are not as many: the snapshot is of
/// filters of another size.
template <class Line>
void load_lines(StateReader& reader, std::span<Line> lines) {
    if (reader.number() != lines.size()) {
        throw StateError("the filters are of another size than now: --numbers, --pairs");
    }
    for (std::size_t left = reader.length(sizeof(Line)); left != 0; --left) {
        const std::size_t at = reader.choice(lines.size());
        std::memcpy(&lines[at], reader.bytes(sizeof(Line)).data(), sizeof(Line));
    }
}

}  // namespace strid::apps::voip_stream
