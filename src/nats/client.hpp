// SPDX-License-Identifier: Apache-2.0
//
// A connection to a NATS server with JetStream, by libnats, which has threads of its own; nothing
// of Strid runs in them. It does not connect again by itself. Threads: one at a time.
#pragma once

#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <nats/nats.h>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/address_options.hpp>

namespace strid::nats {

/// How long a call waits for the server.
inline constexpr int answer_wait_ms = 2'000;
inline constexpr std::int64_t ns_in_ms = 1'000'000;

using detail::read_number;

/// Where messages are, of an address whose other options were taken.
struct Place {
    /// Reads the environment. Throws GraphError.
    explicit Place(TransportAddress& from);

    std::string address;  // for messages
    std::string url;
    std::string subject;
    std::string subjects;  // all that are read or written, a pattern
    std::string stream;
    std::string user;
    std::string password;
    std::string token;
    std::string certificates;  // empty: no TLS
};

template <auto Destroy>
struct Destroys {
    template <class T>
    void operator()(T* one) const noexcept {
        Destroy(one);
    }
};
using Message = std::unique_ptr<::natsMsg, Destroys<::natsMsg_Destroy>>;
using Subscription = std::unique_ptr<::natsSubscription, Destroys<::natsSubscription_Destroy>>;

/// A stream, as it was when the server was asked.
struct StreamState {
    std::uint64_t first = 0;  ///< Sequence number of the first message; of none: behind the last.
    std::uint64_t last = 0;   ///< That was given to a message; 0: none.
    std::int64_t created_ns = 0;
    bool keeps_messages = true;  ///< Also those that a consumer has had.
    std::vector<std::string> subjects = {};
};

class Client {
  public:
    /// Connects to nothing.
    explicit Client(const Place& place) : place_(place) {}
    ~Client() { close(); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// Connects anew. Throws ConnectionLost where no server answers, InputOutputError where it
    /// refuses, or has no such stream; so do all below.
    StreamState open();
    [[nodiscard]] bool is_open() const noexcept { return connection_ != nullptr; }
    /// Also ends the consumer.
    void close() noexcept;

    [[nodiscard]] StreamState stream();
    /// A subscription to an inbox of its own, and to INBOX.* behind it. It is the client's, as long
    /// as the connection: libnats before 3.6 hands on a message to one that was just destroyed.
    struct Inbox {
        std::string name;
        ::natsSubscription* own = nullptr;
    };
    [[nodiscard]] Inbox make_inbox(bool has_children);
    /// No more messages come to it.
    void drop(Inbox& inbox) noexcept;
    /// Makes a consumer that goes away by itself, in the place of the one before. How many messages
    /// there are for it.
    std::uint64_t make_consumer(const ::jsConsumerConfig& config);
    /// Asks the consumer for messages, which come to the inbox. `request`: JSON.
    void request(const Inbox& inbox, const std::string& request);
    /// The next message of an inbox; null: none has come.
    [[nodiscard]] Message next(const Inbox& inbox, int wait_ms);
    void publish(const Message& message);
    /// The last message of the subjects that match; null: there is none.
    [[nodiscard]] Message last_message(const std::string& subject);

  private:
    struct Options;
    void connect();
    void end_consumer() noexcept;
    void check(::natsStatus status, ::jsErrCode code = {}) const;
    [[noreturn]] void fail_of_stream(::jsErrCode code) const;
    [[noreturn]] void fail_of_silence() const;

    const Place place_;
    std::vector<Subscription> subscriptions_;
    std::unique_ptr<::natsConnection, Destroys<::natsConnection_Destroy>> connection_;
    std::unique_ptr<::jsCtx, Destroys<::jsCtx_Destroy>> jet_stream_;
    std::string consumer_;   // empty: none
    bool was_open_ = false;  // the server has had JetStream
};

/// The value of a header; null: the message has none.
[[nodiscard]] const char* header_of(const Message& message, const char* name) noexcept;
/// The payload.
[[nodiscard]] std::string_view text_of(const Message& message) noexcept;

}  // namespace strid::nats
