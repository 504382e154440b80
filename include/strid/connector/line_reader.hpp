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
#include <string>
#include <string_view>

#include <strid/connector/byte_reader.hpp>
#include <strid/memory/text_arena.hpp>

namespace strid {

/// How text is read: the member `text` of the options of csv_file, json_lines and text_lines. The
/// defaults fit a second-level cache; a test makes them tiny. A source has at most `chunks` chunks
/// of `chunk_bytes`, 16 MiB, and at most 4 larger ones for lines that do not fit a chunk; within
/// `replay` it keeps all text. A limit of 0 is a GraphError.
struct TextOptions {
    /// Bytes of a chunk. A batch keeps the chunks alive that its records point into.
    std::size_t chunk_bytes = std::size_t{256} << 10;
    /// Chunks that exist at once, at least 4 whatever is given. While all are in use downstream the
    /// source waits: back-pressure.
    std::size_t chunks = 64;
    /// The longest line, in bytes without its end. A longer one is malformed and goes the way of
    /// the option `on_malformed`.
    std::size_t line_bytes_max = std::size_t{128} << 20;
    /// A file with the dictionary that zstd inputs were compressed with; empty: none.
    std::string zstd_dictionary{};
};

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
    /// keeps all text. Throws InputOutputError.
    LineReader(std::string path, const TextOptions& options, bool keep_all);

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

    [[nodiscard]] char* begin() const noexcept { return begin_; }
    [[nodiscard]] char* end() const noexcept { return end_; }
    [[nodiscard]] char* data_end() const noexcept { return data_end_; }
    /// The chunk that keeps the region alive.
    [[nodiscard]] const memory::TextReference& chunk() const noexcept { return chunk_; }
    [[nodiscard]] const ByteReader& bytes() const noexcept { return bytes_; }
    /// As ByteReader::read_only_what_waits().
    void read_only_what_waits() { bytes_.read_only_what_waits(); }
    [[nodiscard]] bool is_valid() const noexcept;

  private:
    bool make_room();
    memory::TextReference lease(std::size_t bytes);
    Status take(std::size_t bytes);
    Status finish();

    TextOptions options_;
    bool keep_all_;
    ByteReader bytes_;
    memory::TextPool pool_;
    memory::TextReference chunk_;
    std::array<memory::TextReference, 4> large_;  // one-off chunks that may still be in use
    char* begin_ = nullptr;
    char* end_ = nullptr;
    char* data_end_ = nullptr;
    RegionEnd choose_region_end_ = nullptr;  // null: chosen
    char region_end_ = '\n';
    bool skipping_ = false;
    bool ended_ = false;
};

}  // namespace strid
