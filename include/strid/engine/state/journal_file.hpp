// SPDX-License-Identifier: Apache-2.0
//
// A file of a journal: a header, then blocks of the text or of the records that arrived, each
// behind a header of its own.
//
// Invariant: a checksum covers each byte of the file. The checksum of a header of a block covers
// the journal and the place of the block, so that no block stands for another.
//
// A block is torn if the file ends in it, if it is the last one and does not have its checksum, or
// if nothing but zeros follows: the process, or the machine, has stopped while it was written. Any
// other fault is damage.
//
// Threads: one for each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <strid/base/place_in_file.hpp>

namespace strid::detail {

/// A descriptor that is closed with the object.
class JournalDescriptor {
  public:
    explicit JournalDescriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
    JournalDescriptor(JournalDescriptor&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)) {}
    JournalDescriptor& operator=(JournalDescriptor&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~JournalDescriptor() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

  private:
    int descriptor_;
};

/// The content of a journal. The first line of each file has it.
enum class JournalKind : std::uint8_t {
    text,    ///< what a pipe or a socket gives, in lines
    records  ///< what was pushed into an inlet, as codecs write it: each block is a
             ///< JournalRecords and its records
};
/// Before the records of a block.
struct JournalRecords {
    std::uint32_t count = 0;
    std::uint32_t type = 0;  // CRC-32 of their type and its layout
};

/// The header of a file.
struct JournalFileHeader {
    std::uint64_t journal = 0;   // which one
    std::uint64_t first = 0;     // the place of its first byte in the text
    std::uint64_t lines = 0;     // of the text before it; or records
    std::uint64_t line_end = 0;  // the place behind the last of these
    /// Where its first byte stands in the file that is followed; zeros where none is.
    PlaceInFile file = {};
};

/// The most text in a block.
inline constexpr std::size_t journal_text_bytes_max = std::size_t{1} << 20;
/// The most bytes in a block: those of one long record.
inline constexpr std::size_t journal_block_bytes_max = std::size_t{64} << 20;

/// Writes a file. Its functions return an error of the system, or 0.
class JournalFileWriter {
  public:
    JournalFileWriter() = default;
    /// Writes the header. Takes the descriptor.
    [[nodiscard]] int begin(int descriptor, JournalKind kind, const JournalFileHeader& header);
    /// Writes a block of at most journal_block_bytes_max bytes at the end, or nothing of it.
    [[nodiscard]] int append(std::span<const char> text);
    /// Waits until all is on the disk.
    [[nodiscard]] int synchronize() const noexcept;
    void close() noexcept { file_ = JournalDescriptor{}; }
    [[nodiscard]] bool is_open() const noexcept { return file_.is_open(); }
    /// Of the file.
    [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }
    /// The place behind its last byte.
    [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

  private:
    JournalDescriptor file_;
    std::uint64_t journal_ = 0;
    std::uint64_t file_bytes_ = 0;
    std::uint64_t end_ = 0;
};

/// Reads a file, block by block. Throws InputOutputError, which names the file.
class JournalFileReader {
  public:
    enum class [[nodiscard]] Found : std::uint8_t { block, end, torn };

    /// Takes the descriptor. has_header() is false where the header is torn.
    JournalFileReader(int descriptor, std::string path);

    [[nodiscard]] bool has_header() const noexcept { return has_header_; }
    [[nodiscard]] const JournalFileHeader& header() const noexcept { return header_; }
    [[nodiscard]] JournalKind kind() const noexcept { return kind_; }
    /// Reads the next block. Throws InputOutputError for damage, which names the place in the file.
    Found next();
    /// The text of the last block.
    [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), text_.size()}; }
    /// The place behind it.
    [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    [[nodiscard]] std::size_t read(std::uint64_t at, std::span<char> bytes) const;
    [[nodiscard]] bool is_zero_from(std::uint64_t at) const;
    [[nodiscard]] bool reaches(std::uint64_t bytes) const;
    [[noreturn]] void refuse(std::string_view fault) const;

    JournalDescriptor file_;
    std::string path_;
    bool has_header_ = false;
    JournalKind kind_ = JournalKind::text;
    JournalFileHeader header_;
    std::uint64_t at_ = 0;  // in the file
    std::uint64_t end_ = 0;
    std::vector<char> text_;
};

}  // namespace strid::detail
