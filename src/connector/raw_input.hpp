// SPDX-License-Identifier: Apache-2.0
//
// One open descriptor, a file that is followed (`follow:PATH`) or the input of a transport, as
// bytes, before any decompression; private to the connector room.
// Owned and used by one ByteReader, on one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <strid/connector/byte_reader.hpp>
#include <strid/connector/transport.hpp>

#include "followed_file.hpp"
#include "socket_input.hpp"

namespace strid::detail {

class RawInput {
  public:
    explicit RawInput(std::string path);
    ~RawInput();
    RawInput(const RawInput&) = delete;
    RawInput& operator=(const RawInput&) = delete;

    ByteReader::Result read(std::span<char> out, int wait_ms);

    enum class [[nodiscard]] Format : std::uint8_t {
        unknown,
        plain,
        gzip,
        zstd,
        xz,
        bzip2,
        foreign  ///< none that is read: see foreign_format()
    };
    /// Looks at the first bytes without consuming them; `unknown` while a pipe has not given
    /// enough of them. An input shorter than a magic number is decided by what there is.
    Format detect(int wait_ms);

    /// As ByteReader's.
    [[nodiscard]] std::optional<ByteReader::FilePlace> followed_place() const;
    /// As ByteReader's.
    bool follow_from(const ByteReader::FilePlace& place) {
        if (!followed_ || !followed_->go_on_from(place)) return false;
        is_in_middle_ = followed_->place().bytes != 0;
        return true;
    }
    /// As ByteReader's.
    void acknowledge(std::uint64_t lines);
    /// As ByteReader's.
    [[nodiscard]] std::uint64_t connections() const noexcept { return connections_; }
    /// As ByteReader's.
    void read_only_what_waits();
    [[nodiscard]] std::uint64_t bytes_waiting() const noexcept {
        return is_limited_ ? bytes_left_ : 0;
    }

    /// Null: the input is none.
    [[nodiscard]] TransportInput* transport() const noexcept { return transport_.get(); }

    /// After `foreign`: what it is, and what makes a table of it.
    [[nodiscard]] std::string foreign_format() const;

    [[noreturn]] void fail(const std::string& reason) const;

    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }
    [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  private:
    ByteReader::Result read_descriptor(std::span<char> out, int wait_ms);
    [[nodiscard]] bool is_at_end() const noexcept;
    void send_acknowledgements() noexcept;
    [[nodiscard]] bool takes_next_client();
    [[nodiscard]] Format format_of_prefix() const noexcept;

    std::string path_;
    std::unique_ptr<SocketInput> socket_;     // until it is connected
    std::unique_ptr<FollowedFile> followed_;  // then nothing else is read
    std::unique_ptr<TransportInput> transport_;
    int descriptor_ = -1;
    bool owned_ = true;
    bool waits_ = false;  // not a regular file: ask poll() before read()
    bool ended_ = false;
    bool is_in_middle_ = false;              // of a followed file: no magic number stands there
    bool is_limited_ = false;                // to what waited
    std::uint64_t bytes_left_ = 0;           // of it
    std::optional<std::uint64_t> accepted_;  // lines that the producer is to hear of
    std::optional<std::uint64_t> sent_;      // that it has heard of
    std::string unsent_;                     // of a line to it
    std::uint64_t connections_ = 0;          // that have ended
    std::array<char, 16> prefix_{};          // what detect() read ahead
    std::size_t prefix_begin_ = 0;
    std::size_t prefix_end_ = 0;
    std::uint64_t bytes_read_ = 0;
    std::uint64_t size_bytes_ = 0;
};

}  // namespace strid::detail
