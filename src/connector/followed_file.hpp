// SPDX-License-Identifier: Apache-2.0
//
// A file that other programs write while it is read, as `tail -F` follows it: it grows, is renamed
// and made anew, or is truncated. Private to the connector room; owned by one RawInput, used by one
// thread at a time.
//
// Invariant: each byte comes once, and each file ends with a newline: where its last line has none
// when another file takes its place, one is added.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <strid/connector/byte_reader.hpp>

namespace strid::detail {

/// The path of an input `follow:PATH`; empty where it is none.
[[nodiscard]] std::string_view followed_path(std::string_view input) noexcept;

class FollowedFile {
  public:
    /// Opens the file, from its beginning on. Throws InputOutputError.
    explicit FollowedFile(std::string path);
    ~FollowedFile();
    FollowedFile(const FollowedFile&) = delete;
    FollowedFile& operator=(const FollowedFile&) = delete;

    /// Never `end`. Waits for at most `wait_ms` where there is nothing. Throws InputOutputError.
    /// Of the next byte.
    [[nodiscard]] ByteReader::FilePlace place() const;
    /// Goes on there, if a file of the folder is the one; then with what has the name. False: none.
    bool go_on_from(const ByteReader::FilePlace& place);
    ByteReader::Result read(std::span<char> out, int wait_ms);
    /// Bytes of the file that were not read yet.
    [[nodiscard]] std::uint64_t bytes_left() const noexcept;

  private:
    /// At the end of the file: whether reading goes on, in another file or from the beginning.
    bool goes_on();
    void open(int descriptor) noexcept;

    std::string path_;
    int descriptor_ = -1;
    ::off_t position_ = 0;
    bool is_in_line_ = false;             // the last byte that came is no newline
    std::int64_t replaced_since_ns_ = 0;  // when another file was seen in its place; 0: none
};

}  // namespace strid::detail
