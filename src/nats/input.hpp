// SPDX-License-Identifier: Apache-2.0
//
// The messages of a stream whose subjects match, each a line. Threads: one at a time.
//
// They are read by a consumer that the server forgets, which begins at a sequence number of the
// stream, and acknowledges nothing: after a lost connection another one begins behind the last
// message. Invariant: messages come in the order of their numbers, and none twice.
//
// A position is `NUMBER CREATED`: the number of the next message, and when the stream was made, in
// nanoseconds; `@MS CREATED` where no message has come since a time. Where the place is within a
// message, of several rows, a '>' stands in front, and that message must come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_fields.hpp>
#include <strid/engine/connector/taken_rows.hpp>

#include "client.hpp"

namespace strid::nats {

class StreamInput final : public TransportInput {
  public:
    /// Throws GraphError, ConnectionLost and InputOutputError.
    explicit StreamInput(TransportAddress address);

    ByteReader::Result read(std::span<char> out, int wait_ms) override;
    [[nodiscard]] bool has_positions() const noexcept override { return true; }
    void passed(std::uint64_t bytes) override;
    [[nodiscard]] Position position(std::uint64_t bytes) override;
    [[nodiscard]] std::string_view lost() const noexcept override { return lost_; }
    void go_on_at(std::string_view position) override;

  private:
    /// Its options, which are taken.
    struct Part {
        explicit Part(TransportAddress& address);
        bool latest = false;
        std::uint64_t start = 0;               // number of a message; 0: the first one
        std::optional<std::int64_t> since_ms;  // a time
        bool until_end = false;
        detail::MessageFields fields;
    };
    /// A request for messages, which the server answers with so many, or with a status.
    struct Request {
        int asked = 0;  // messages; 0: there is no request
        int come = 0;
        std::int64_t until_ns = 0;
    };
    /// In the reply subject of a message.
    struct About {
        std::uint64_t number = 0;  // in the stream
        std::uint64_t number_of_consumer = 0;
        std::int64_t time_ns = 0;
    };

    void begin(const StreamState& stream);
    void check_is_there(const StreamState& stream) const;
    [[noreturn]] void fail_of_part() const;
    void connect_again();
    void note_subjects(const StreamState& stream);
    std::uint64_t make_consumer();
    void look_behind();
    void ask();
    void fetch(int wait_ms);
    void take_all(int wait_ms);
    void take(const Message& message);
    void take_status(const Message& message);
    void end_of_request();
    void append_row(const Message& message, const About& about);
    [[nodiscard]] static std::optional<About> about(const Message& message);
    [[nodiscard]] std::string text_of_place(std::uint64_t number) const;

    Part part_;
    const Place place_;
    Client client_;
    Client::Inbox inbox_;
    std::int64_t created_ns_ = 0;           // of the stream
    std::uint64_t next_ = 1;                // number of the next message to take
    std::optional<std::int64_t> since_ms_;  // in the place of it, until a message has come
    bool is_within_ = false;                // the next message must have this number
    std::uint64_t end_ = 0;                 // with until=end: the last one
    bool is_at_end_ = false;
    bool is_quiet_ = false;   // the last request has brought nothing
    bool reads_all_ = false;  // the subjects match all of the stream
    bool has_consumer_ = false;
    std::uint64_t of_consumer_ = 0;  // messages of it
    Request request_;
    int batch_ = 0;
    std::size_t batch_bytes_ = 0;
    detail::TakenRows<std::uint64_t> rows_;  // by their numbers
    std::int64_t retry_at_ns_ = 0;
    std::string lost_;  // why; empty: it is connected
};

}  // namespace strid::nats
