// SPDX-License-Identifier: Apache-2.0
//
// Decompresses one file: streams of bzip2 one behind the other, each of blocks. Blocks may begin
// with any bit, and nothing says where; but a number of 48 bits stands before each. So the file is
// cut at all such numbers (mark_scanner.hpp), the pieces are decoded in parallel, and only here,
// where they come back in order, is it known which marks were true:
//
// Invariant: position_ is where a block, the end of a stream or a stream begins, known from what
// was before. A piece counts if it begins there and a whole block with a CRC that is right begins
// with it. Where it ends too early, a mark inside the block has cut it: the block is decoded once
// more, as far as it goes. So a false mark costs time, and never changes what is written.
//
// One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include <strid/base/error.hpp>

#include "block_line.hpp"
#include "byte_window.hpp"
#include "input.hpp"
#include "mark_scanner.hpp"
#include "output.hpp"
#include "packer.hpp"

namespace strid::compress {

/// The input is not what bzip2 writes, or was damaged.
class CorruptError : public InputOutputError {
  public:
    using InputOutputError::InputOutputError;
};

class Unpacker {
  public:
    Unpacker(Input& input, Output& output, BlockLine& line, const OnProgress& on_progress)
        : input_(input), output_(output), line_(line), on_progress_(on_progress) {}

    /// False where the input does not begin like a stream; nothing was written then. Throws
    /// CorruptError, InputOutputError, OperatorError, Interrupted; the line then has to discard
    /// what is in it.
    [[nodiscard]] bool run();
    /// After run() was false: the input goes to the output as it is. Throws InputOutputError,
    /// Interrupted.
    void copy_through();
    /// Behind the last stream stand bytes that are none, from this one on.
    [[nodiscard]] std::optional<std::uint64_t> garbage() const noexcept { return garbage_; }

  private:
    enum class Start : std::uint8_t { stream, nothing, garbage };
    Start begin_stream();
    void decode_stream();
    void decode_block();
    void end_stream();

    // The part ahead.
    void read_more();
    [[nodiscard]] std::size_t read_size() const;
    void read_until(std::uint64_t bit);
    void hand_out();
    [[nodiscard]] bool hand_out_next();
    [[nodiscard]] int level_of(const Mark& mark) const;
    [[nodiscard]] std::optional<std::uint64_t> end_of_piece(std::size_t mark) const;
    [[nodiscard]] std::uint64_t bits_at(std::uint64_t bit, unsigned count) const;
    [[nodiscard]] BlockPointer piece_at_position();
    [[nodiscard]] BlockPointer decode_over_marks();
    void fill(Block& block, std::uint64_t begin, std::uint64_t end, int level) const;
    void drop_what_is_done();
    [[noreturn]] void fail_at(std::uint64_t bit, std::string_view what) const;
    [[noreturn]] void fail_at_end() const;

    Input& input_;
    Output& output_;
    BlockLine& line_;
    const OnProgress& on_progress_;

    ByteWindow window_;
    MarkScanner scanner_;
    std::deque<Mark> marks_;      // from position_ on
    std::size_t handed_out_ = 0;  // of the marks: their pieces are in the line, or were
    int level_ahead_ = 9;         // of the block handed out last

    std::uint64_t position_ = 0;
    int level_ = 9;                   // of the stream at position_
    std::uint32_t combined_crc_ = 0;  // of its blocks so far
    std::optional<std::uint64_t> garbage_;
};

}  // namespace strid::compress
