// SPDX-License-Identifier: Apache-2.0
//
// Reads the bytes of a file, a pipe, a socket or standard input ("-"). Input that begins like gzip,
// zstd, xz or bzip2 is decompressed. UTF-16 with a byte order mark is converted to UTF-8, without
// the mark. Owns the descriptor (but never closes standard input). One thread at a time.
//
// A socket is named by its address: tcp://HOST:PORT and unix:///PATH connect to a server,
// tcp-listen://[HOST]:PORT and unix-listen:///PATH listen and take one client. The end of the
// connection is the end of the input, unless it is acknowledged. Other addresses are those of
// transports (transport.hpp).
//
// Invariant: bytes come out in the order of the input, each once; a stream that stops inside a
// compressed frame or a character of UTF-16 is an error, never a short file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <strid/base/place_in_file.hpp>

namespace strid {

/// True when reading `path` may block for an unbounded time: a terminal, a pipe, a socket. False
/// also for a path that does not exist; opening it reports that.
[[nodiscard]] bool input_may_block(const std::string& path) noexcept;

/// True when what is read of `path` is gone then: of a pipe, a socket, a file that is followed.
/// False of a file and of a transport, which can be read once more.
[[nodiscard]] bool input_goes_away(const std::string& path) noexcept;

/// Reads the bytes of an input, decompressed. Owns the descriptor. Threads: one at a time.
class ByteReader {
  public:
    /// The outcome of a read.
    enum class [[nodiscard]] Status : std::uint8_t {
        read,     ///< at least one byte was read
        waiting,  ///< a pipe has nothing now; ask again
        end       ///< no byte will come any more
    };
    /// The answer of a read.
    struct [[nodiscard]] Result {
        Status status;      ///< The outcome.
        std::size_t bytes;  ///< Bytes that were read; 0 unless `status` is `read`.
    };

    /// Opens `path`; "-" is standard input. For a socket it only begins to connect. Throws
    /// InputOutputError naming the path and the reason. `zstd_dictionary` is a file with the
    /// dictionary of a zstd input; empty: none.
    explicit ByteReader(std::string path, std::string zstd_dictionary = {});
    ~ByteReader();
    ByteReader(const ByteReader&) = delete;
    ByteReader& operator=(const ByteReader&) = delete;

    /// Reads up to `out.size()` bytes (more than 0). A pipe with nothing to give is waited for at
    /// most `wait_ms`. Throws InputOutputError.
    Result read(std::span<char> out, int wait_ms);

    /// A place in a file that is followed.
    using FilePlace = PlaceInFile;
    /// Of an input that is followed: the place of the next byte. Throws InputOutputError where the
    /// bytes are not those of the file, because they are decompressed or converted.
    [[nodiscard]] std::optional<FilePlace> followed_place() const;
    /// Before the first read: goes on there, also where the file has another name in its folder by
    /// now. False: there is no such file, and the input begins with what has the name.
    bool follow_from(const FilePlace& place);
    /// Sends `accepted LINES` to the other end of a socket, also to one that is connected later. Of
    /// several that cannot be sent at once the last is. From the first call on, a socket that
    /// listens takes the next client where one has ended. Throws InputOutputError where the bytes
    /// are decompressed or converted, which cannot go on in the middle.
    void acknowledge(std::uint64_t lines);
    /// How many clients have ended and were followed by another one, after acknowledge().
    [[nodiscard]] std::uint64_t connections() const noexcept;
    /// Whether it reads messages (TransportInput), whose bytes are not decoded.
    [[nodiscard]] bool has_positions() const noexcept;
    /// The position of the message that is not passed when so many bytes are, and the bytes before.
    [[nodiscard]] std::pair<std::string, std::uint64_t> position(std::uint64_t bytes);
    /// Rows of so many bytes were emitted: no position before them is asked for.
    void passed(std::uint64_t bytes);
    /// So many bytes are in a journal (TransportInput::accepted).
    void accepted(std::uint64_t bytes);
    /// How many bytes end the message that was begun (TransportInput::message_bytes_left).
    [[nodiscard]] std::uint64_t message_bytes_left() const noexcept;
    /// Before the first read: begins there.
    void go_on_at(std::string_view position);
    /// Why a transport cannot be reached now; empty: it can, or the input is none.
    [[nodiscard]] std::string_view lost() const noexcept;
    /// From now on only what waits in a pipe or a socket at this moment is read; behind it, and of
    /// a file at once, the status is `waiting`.
    void read_only_what_waits();
    /// After read_only_what_waits(): how many of these bytes are not read yet.
    [[nodiscard]] std::uint64_t bytes_waiting() const noexcept;
    /// Bytes taken from the input as it is stored, that is, before decompression.
    [[nodiscard]] std::uint64_t bytes_read() const noexcept;
    /// Bytes of the stored input; 0 when unknown (a pipe).
    [[nodiscard]] std::uint64_t size_bytes() const noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace strid
