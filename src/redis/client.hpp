// SPDX-License-Identifier: Apache-2.0
//
// A connection to a Redis server. libhiredis connects and cuts the replies; commands are written
// and bytes are moved here, so that a call never waits for longer than it says, and a server that
// has gone raises no signal. Threads: one at a time, but for interrupt().
//
// Invariant: the replies come in the order of the commands, and unanswered() of them are to come.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include <hiredis/hiredis.h>

#include <strid/connector/transport.hpp>

#include "place.hpp"

namespace strid::redis {

struct EndsReply {
    void operator()(::redisReply* reply) const noexcept { ::freeReplyObject(reply); }
};
using Reply = std::unique_ptr<::redisReply, EndsReply>;

/// The text of a reply, or of a part of one; empty: it has none.
[[nodiscard]] std::string_view text_of(const ::redisReply& reply) noexcept;
/// The value behind a name, in a list of names and values; null: there is none.
[[nodiscard]] const ::redisReply* find(const ::redisReply& list, std::string_view name) noexcept;

class Client {
  public:
    /// Connects to nothing.
    explicit Client(const Place& place) : place_(place) {}

    /// Connects anew, as a user and to the database of the place. Throws ConnectionLost where no
    /// server answers, InputOutputError where it refuses; so do all below.
    void open();
    [[nodiscard]] bool is_open() const noexcept { return context_ != nullptr; }
    void close() noexcept;

    /// Begins a command of so many words. Each follows by word().
    void begin(std::size_t words);
    void word(std::string_view text);
    /// A whole command, which is sent by the next call that waits.
    void add(std::initializer_list<std::string_view> words);
    /// Sends until so many bytes at most wait here; takes what replies come.
    void send_down_to(std::size_t bytes);
    /// The next reply, also where it is an error; null: it has not come.
    [[nodiscard]] Reply next(int wait_ms);
    /// The next reply, which is no error, and is waited for until the server is silent for too
    /// long.
    [[nodiscard]] Reply answer();
    /// The answer to a command when nothing else is unanswered.
    [[nodiscard]] Reply ask(std::initializer_list<std::string_view> words);

    [[nodiscard]] std::size_t unanswered() const noexcept { return unanswered_; }
    /// Of commands that are not sent.
    [[nodiscard]] std::size_t waiting_bytes() const noexcept { return out_.size() - sent_; }
    /// When bytes were last sent or received.
    [[nodiscard]] std::int64_t moved_at_ns() const noexcept { return moved_at_ns_; }
    /// Throws where the reply is an error.
    void check(const ::redisReply& reply) const;
    /// The server has not answered for too long.
    [[noreturn]] void fail_of_silence() const;
    /// The server follows another one, and takes no rows.
    [[nodiscard]] bool is_replica() const noexcept { return is_replica_; }

    /// Ends a call that waits, which throws ConnectionLost then, and all later ones. Any thread.
    void interrupt() noexcept {
        is_interrupted_.store(true, std::memory_order_relaxed);  // orders nothing
    }

  private:
    struct EndsContext {
        void operator()(::redisContext* context) const noexcept { ::redisFree(context); }
    };

    void connect();
    void greet();
    void note_server(const ::redisReply& about);
    [[nodiscard]] bool move(int wait_ms);
    void send_some();
    void receive_some();
    void check_interruption() const;
    [[noreturn]] void fail_of_end() const;

    const Place place_;
    std::unique_ptr<::redisContext, EndsContext> context_;
    std::string out_;       // commands that are not sent
    std::size_t sent_ = 0;  // bytes of them that are
    std::size_t unanswered_ = 0;
    std::int64_t moved_at_ns_ = 0;
    bool was_open_ = false;  // there is a server of Redis
    bool is_replica_ = false;
    std::atomic<bool> is_interrupted_{false};
};

}  // namespace strid::redis
