// SPDX-License-Identifier: Apache-2.0
//
// Bodies of lines on their way from the connections of a server to a source, which reads them one
// behind the other. A connection waits until its body is taken: until the journal has it, or,
// without one, until its rows were emitted. Private to the connector room.
//
// Threads: any for connections; one for the source; close() by the owner.
//
// Invariants: at most `bytes_max` bytes are held, those that connections have reserved among them,
// or one body that waited for its room; a body has one answer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include <strid/connector/byte_reader.hpp>

namespace strid::detail {

class BodyQueue {
  public:
    /// So many keys of the last bodies are kept.
    static constexpr std::size_t keys_max = 10'000;

    enum class [[nodiscard]] Outcome : std::uint8_t {
        waits,
        taken,
        refused,   // the source has ended, and has nothing of it
        unknown,   // the source has ended, and may have read a part of it
        given_up,  // it was not read in time, and is not any more
        differs    // from the earlier body with its key
    };
    struct Answer {
        Outcome outcome = Outcome::waits;
        std::uint64_t lines = 0;
    };

    explicit BodyQueue(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    /// From now on so many bytes may be held; those that are stay.
    void set_bytes_max(std::size_t bytes_max);
    /// Room for so many bytes more of a body; false: there is none.
    [[nodiscard]] bool reserve(std::size_t bytes);
    void release(std::size_t bytes);
    /// Whether there is room for so many now.
    [[nodiscard]] bool has_room(std::uint64_t bytes);
    /// Hands on whole lines, whose bytes are reserved, and waits for their answer; for one that is
    /// not begun to be read no longer than `patience`. With a key that an earlier body had, the
    /// answer of that one; empty: none.
    [[nodiscard]] Answer hand_on(std::string text, std::string_view key,
                                 std::chrono::milliseconds patience);
    /// Hands on a piece of a stream, as into a pipe: waits until there is room for it, and then
    /// until it was read. It is not waited for its answer, because the source may need the piece
    /// that follows to make one: a record may go on there. The outcome may be `waits`; `refused`:
    /// nothing of it was taken.
    [[nodiscard]] Outcome hand_on(std::string text);
    /// From now on such pieces wait for room, and not for being read.
    void end_waiting();

    /// As those of TransportInput.
    ByteReader::Result read(std::span<char> out, int wait_ms);
    [[nodiscard]] std::uint64_t bytes_waiting() const;
    [[nodiscard]] std::uint64_t message_bytes_left() const;
    void accepted(std::uint64_t bytes);
    void passed(std::uint64_t bytes);

    /// The source has ended: answers all that wait, and refuses what comes.
    void close();
    [[nodiscard]] bool is_closed() const;

  private:
    struct Body {
        std::string text;  // until it was read
        std::uint64_t bytes = 0;
        std::size_t hash = 0;
        std::uint64_t end = 0;  // of all that was read, where it was read
        bool is_read = false;
        Answer answer;
    };

    [[nodiscard]] std::shared_ptr<Body> add(std::string text, std::string_view key);
    /// False: it is being read, or was.
    [[nodiscard]] bool give_up(const std::shared_ptr<Body>& body, std::string_view key);
    void take_up_to(std::uint64_t bytes);
    [[nodiscard]] bool fits(std::uint64_t bytes) const noexcept {
        return held_bytes_ <= bytes_max_ && bytes <= bytes_max_ - held_bytes_;
    }

    mutable std::mutex mutex_;
    // Under mutex_:
    std::size_t bytes_max_;
    std::size_t held_bytes_ = 0;
    std::deque<std::shared_ptr<Body>> waiting_;
    std::size_t first_read_ = 0;  // bytes of the first one
    std::deque<std::shared_ptr<Body>> read_;
    std::uint64_t read_bytes_ = 0;   // of all
    std::uint64_t taken_bytes_ = 0;  // of these
    bool has_journal_ = false;
    bool is_closed_ = false;
    bool waits_for_reads_ = true;
    std::map<std::string, std::shared_ptr<Body>, std::less<>> by_key_;
    std::deque<std::string> keys_;  // of by_key_, the oldest first
    std::condition_variable arrived_;
    std::condition_variable answered_;
    std::condition_variable has_read_;  // a body, or has room for more
};

}  // namespace strid::detail
