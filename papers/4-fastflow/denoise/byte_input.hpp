// SPDX-License-Identifier: Apache-2.0
//
// The bytes of an input that were read and not yet taken. Owns the file, never standard input. One
// thread at a time.
//
// Images and YUV4MPEG2 are decompressed where their first bytes say so (.y4m.zst). Raw video is
// read as it is stored: its first bytes are samples, and may look like anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <strid/connector/byte_reader.hpp>

namespace strid::denoise {

class ByteInput {
  public:
    enum class Content : unsigned char {
        by_first_bytes,  ///< Decompressed where it is compressed.
        as_stored
    };

    /// Throws InputOutputError.
    ByteInput(std::string path, Content content);
    ~ByteInput();
    ByteInput(const ByteInput&) = delete;
    ByteInput& operator=(const ByteInput&) = delete;

    /// Reads more; waits for a pipe for some tens of milliseconds. `wanted` says how much helps.
    ByteReader::Status more(std::size_t wanted);
    [[nodiscard]] std::string_view bytes() const noexcept { return buffer_; }
    /// Removes the first `size` bytes.
    [[nodiscard]] std::string take(std::size_t size);
    /// The name of the input in messages.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

  private:
    ByteReader::Result read(std::size_t at, std::size_t size);

    std::string name_;
    std::unique_ptr<ByteReader> reader_;  // none: descriptor_ is read
    int descriptor_ = -1;
    std::string buffer_;
};

/// "standard input" for "-".
[[nodiscard]] std::string input_name(const std::string& path);

}  // namespace strid::denoise
