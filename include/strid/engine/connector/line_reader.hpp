// SPDX-License-Identifier: Apache-2.0
//
// Reads an input into shared chunks of text, and cuts it into regions of whole lines. Owns the
// input, the pool and one reference to the current chunk. One thread at a time; the bytes of a
// region may be read anywhere for as long as a reference to its chunk is held.
//
// Invariant: begin() <= end() <= the end of what was read, all in one chunk; a region that `text`
// announces is not empty and ends with '\n' (one is added to a last line that has none), or with
// the byte that choose_region_end() chose instead; bytes before begin() are never written again, so
// records may keep pointing at them. `slack_bytes` after every region belong to the same chunk and
// may be read (not interpreted) by a vector load.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <strid/connector/byte_reader.hpp>
#include <strid/connector/text_options.hpp>
#include <strid/memory/text_arena.hpp>

namespace strid {

namespace detail {
class Journal;
}

/// Throws GraphError for a limit of 0.
void check_text_options(const TextOptions& options);

class LineReader {
  public:
    enum class [[nodiscard]] Status : std::uint8_t {
        text,      ///< more whole lines stand in [begin(), end())
        waiting,   ///< the input has nothing now
        no_chunk,  ///< every chunk is in use downstream: back-pressure
        too_long,  ///< [begin(), data_end()) is longer than line_bytes_max; see skip_line()
        end        ///< the input has ended; [begin(), end()) is what was left unread
    };
    static constexpr std::size_t slack_bytes = 64;

    /// Opens the input. With `keep_all` the number of chunks is not limited, for a caller that
    /// keeps all text. The bytes pass through the journal, which outlives the reader; null: none.
    /// Throws InputOutputError.
    LineReader(std::string path, const TextOptions& options, bool keep_all,
               detail::Journal* journal = nullptr);

    /// Gives up everything before `unread`, which lies in [begin(), end()], and reads until there
    /// is at least one more line than before. Waits for a pipe for at most `wait_ms`.
    Status read_more(char* unread, int wait_ms);

    /// Says by the first bytes of the input which byte a region ends with; '\0': not known yet.
    using RegionEnd = char (*)(std::string_view first) noexcept;
    /// Before the first read_more(). Until more is known no region is announced.
    void choose_region_end(RegionEnd choose) noexcept { choose_region_end_ = choose; }
    [[nodiscard]] char region_end() const noexcept { return region_end_; }

    /// After `too_long`: everything up to the next newline is dropped by the next read_more().
    void skip_line() noexcept { skipping_ = true; }

    /// The next region has a chunk of its own, so that another thread may have this one.
    void end_chunk() noexcept { is_chunk_ended_ = true; }
    /// Instead of what is unread in [begin(), data_end()): this text, of which `bytes_before` bytes
    /// are passed, and then the input.
    void read_again(std::string text, std::uint64_t bytes_before);

    /// Whether skip_line() has not come to its end yet.
    [[nodiscard]] bool is_skipping() const noexcept { return skipping_; }

    /// Bytes of the text before begin(), decompressed.
    [[nodiscard]] std::uint64_t bytes_passed() const noexcept { return bytes_passed_; }
    [[nodiscard]] char* begin() const noexcept { return begin_; }
    [[nodiscard]] char* end() const noexcept { return end_; }
    [[nodiscard]] char* data_end() const noexcept { return data_end_; }
    /// The chunk that keeps the region alive.
    [[nodiscard]] const memory::TextReference& chunk() const noexcept { return chunk_; }
    [[nodiscard]] const ByteReader& bytes() const noexcept { return bytes_; }
    [[nodiscard]] ByteReader& bytes() noexcept { return bytes_; }
    /// As ByteReader::read_only_what_waits().
    void read_only_what_waits() { bytes_.read_only_what_waits(); }
    [[nodiscard]] bool is_valid() const noexcept;

  private:
    bool make_room();
    memory::TextReference lease(std::size_t bytes);
    ByteReader::Result read(std::span<char> out, int wait_ms);
    Status take(std::size_t bytes);
    Status finish();

    TextOptions options_;
    bool keep_all_;
    ByteReader bytes_;
    detail::Journal* journal_;
    memory::TextPool pool_;
    memory::TextReference chunk_;
    std::array<memory::TextReference, 4> large_;  // one-off chunks that may still be in use
    char* begin_ = nullptr;
    char* end_ = nullptr;
    char* data_end_ = nullptr;
    RegionEnd choose_region_end_ = nullptr;  // null: chosen
    char region_end_ = '\n';
    std::uint64_t bytes_passed_ = 0;
    std::string again_;         // is read before the input
    std::size_t again_at_ = 0;  // the next byte of it
    bool is_chunk_ended_ = false;
    bool skipping_ = false;
    bool ended_ = false;
};

}  // namespace strid
