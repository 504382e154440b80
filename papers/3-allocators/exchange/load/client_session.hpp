// SPDX-License-Identifier: Apache-2.0
//
// One FIX client: a connection that is made anew when it breaks, sequence numbers both ways,
// resends by NextExpectedMsgSeqNum and by ResendRequest. Sockets do not block. One thread.
//
// Invariant: application messages reach `take` in the order of their numbers, each once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "fix/decoder.hpp"
#include "link/endpoint.hpp"

namespace strid::exchange::load {

class ClientSession {
  public:
    enum class State : std::uint8_t { closed, connecting, on, ended };
    using Take = std::function<void(const fix::Message&)>;

    ClientSession(std::string user, std::string exchange, Take take)
        : user_(std::move(user)), exchange_(std::move(exchange)), take_(std::move(take)) {}

    /// Sends a Logon on a socket that is connected. The first one resets the numbers.
    void begin(Socket socket);
    /// A message of the application, which is kept for resends.
    void send(fix::Message message);
    void log_out();
    /// Reads what is there and answers it; false: the connection has ended.
    [[nodiscard]] bool receive();
    /// Writes what there is room for; false: the connection has ended.
    [[nodiscard]] bool flush();
    void close();

    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
    [[nodiscard]] bool waits_for_room() const noexcept { return written_ < output_.size(); }
    [[nodiscard]] const std::string& user() const noexcept { return user_; }
    /// Why the exchange has ended the session; empty: it has not.
    [[nodiscard]] const std::string& logout_text() const noexcept { return logout_text_; }

  private:
    void put(fix::Message message, std::int64_t sequence);
    void put_next(fix::Message message);
    void handle(const fix::Message& message);
    void on_logon(const fix::Message& message, std::int64_t sequence);
    void dispatch(const fix::Message& message);
    void resend(std::int64_t from, std::int64_t until);
    void pass(std::int64_t next);

    std::string user_;
    std::string exchange_;
    Take take_;
    State state_ = State::closed;
    bool begun_ = false;
    Socket socket_;
    fix::Decoder decoder_;
    std::string output_;
    std::size_t written_ = 0;
    std::int64_t next_outgoing_ = 1;
    std::int64_t next_incoming_ = 1;
    std::int64_t logon_number_ = 0;  // of a Logon that came before older messages; 0: none
    std::map<std::int64_t, fix::Message> sent_;
    std::string logout_text_;
    std::string chunk_;
};

}  // namespace strid::exchange::load
