// SPDX-License-Identifier: Apache-2.0
//
// The FIX session of one user (FIX 4.4, volume 2): logon and logout, sequence numbers both ways,
// heartbeats and test requests, resend requests, gap fills, rejects. A state machine without time,
// sockets or files of its own: for each event it appends actions.
//
// A resend is brought in parts: the next one when the client has taken the one before. Messages
// that are sent meanwhile come behind it, in parts too, so that a client sees its numbers in order.
//
// Invariant: incoming messages are handled in the order of their numbers, each once. A message that
// comes too early waits; one that comes twice is ignored. Each message to the user has the next
// number, also while there is no connection.
//
// One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "session/action.hpp"
#include "session/byte_budget.hpp"

namespace strid::exchange {

struct SessionRules {
    std::string exchange = "STRID";  ///< CompID of this side
    std::int64_t heartbeat_s_max = 3600;
    /// Messages that came too early, and messages to the user behind a resend: what is kept of
    /// them, of a session and of all. A session that exceeds it is ended.
    std::size_t waiting_bytes_max = std::size_t{1} << 20;
    std::shared_ptr<ByteBudget> waiting_bytes = std::make_shared<ByteBudget>(std::size_t{64} << 20);
    /// How far SendingTime may be from the clock of this machine; 0: it is not compared.
    std::chrono::nanoseconds clock_difference_max = std::chrono::minutes(2);
    std::size_t market_data_max = 1000;  ///< requests of a user that are on at once
};

class Session {
  public:
    Session(std::string user, SequenceNumbers numbers, std::shared_ptr<const SessionRules> rules)
        : rules_(std::move(rules)), user_(std::move(user)), numbers_(numbers) {}

    /// `now_ns` by a clock that never goes back.
    void handle(const Event& event, std::int64_t now_ns, std::vector<Action>& actions);
    /// Heartbeat, test request or the end of a connection that says nothing.
    void check_time(std::int64_t now_ns, std::vector<Action>& actions);
    /// When check_time() has something to do; 0: never.
    [[nodiscard]] std::int64_t due_ns() const noexcept;

    [[nodiscard]] bool logged_on() const noexcept { return connection_ != 0; }
    [[nodiscard]] const SequenceNumbers& numbers() const noexcept { return numbers_; }

  private:
    struct Incoming {
        std::shared_ptr<const fix::Message> message;
        std::shared_ptr<const fix::FieldFault> fault;
    };
    /// As it was sent: the fields of a message take several times as much.
    struct Waiting {
        std::string bytes;
        std::shared_ptr<const fix::FieldFault> fault;
        ByteShare share;
    };
    struct Unkept {
        std::shared_ptr<const fix::Message> message;
        ByteShare share;
    };
    /// The numbers that a resend still has to bring; those from `fresh_from` on were not sent.
    struct Resend {
        std::int64_t next = 0;  // 0: there is none
        std::int64_t until = 0;
        std::int64_t fresh_from = 0;
    };
    struct TimeFault {
        std::shared_ptr<const fix::FieldFault> fault;  // null: there is none
        bool ends = false;                             // the session
    };
    using Actions = std::vector<Action>;
    static constexpr std::int64_t second_ns = 1'000'000'000;
    /// Of a text that repeats what a client has sent.
    static constexpr std::size_t text_max = 200;

    /// Throws FieldError.
    static std::int64_t read_sequence(const fix::Message& message, int tag);

    void on_message(const Event& event, std::int64_t now_ns, Actions& actions);
    void on_report(const Event& event, Actions& actions);
    void on_numbered(const Incoming& one, std::int64_t sequence, Actions& actions);
    /// In its turn.
    void accept(const Incoming& one, Actions& actions);

    // session_logon.cpp
    void on_first(const Event& event, std::int64_t now_ns, Actions& actions);
    void log_on(const Event& event, std::int64_t sequence, std::int64_t now_ns, Actions& actions);
    /// A Logout says `why`, and the connection of the event is closed.
    void refuse_logon(const Event& event, std::string_view why, Actions& actions);
    /// Closes the connection of the event.
    void close(const Event& event, std::string reason, Actions& actions);

    // session_early.cpp
    void on_too_early(const Incoming& one, std::int64_t sequence, Actions& actions);
    /// False where there is no room for it: the session has ended.
    bool wait_for_turn(const Incoming& one, std::int64_t sequence, Actions& actions);
    void accept_waiting(Actions& actions);

    using Handler = void (Session::*)(const fix::Message&, Actions&);
    /// A field that is wrong is rejected.
    void try_to(Handler handler, const fix::Message& message, Actions& actions);
    void dispatch(const fix::Message& message, Actions& actions);
    void dispatch_application(const fix::Message& message, Actions& actions);
    void on_resend_request(const fix::Message& message, Actions& actions);
    void on_sequence_reset(const fix::Message& message, Actions& actions);
    void on_logout(Actions& actions);
    void on_closed(Actions& actions);
    void note_market_data(const fix::Message& message);
    void end_market_data(Actions& actions);
    [[nodiscard]] bool takes_market_data(const fix::Message& report, Actions& actions);

    Action& act(Action::Kind kind, Actions& actions);
    /// Of what is sent: header, number, time.
    void send(fix::Message message, bool kept, Actions& actions, std::int64_t report = 0);
    void send_now(fix::Message message, bool kept, Actions& actions, std::int64_t report = 0);
    [[nodiscard]] std::shared_ptr<const fix::Message> with_header(fix::Message message,
                                                                  std::int64_t sequence) const;
    void command(const fix::Message& message, Actions& actions);
    void reject(const fix::Message& message, int tag, int reason, std::string_view text,
                Actions& actions);
    void reject(const fix::Message& message, const fix::FieldFault& fault, Actions& actions) {
        reject(message, fault.tag, fault.reason, fault.text, actions);
    }
    void log_out(const std::string& text, Actions& actions);
    void request_resend(Actions& actions);
    void drop_connection(std::string reason, Actions& actions);
    void forget_connection(Actions& actions);

    // session_resend.cpp
    void resend(std::int64_t from, std::int64_t until, Actions& actions);
    void resend_part(Actions& actions);
    void on_written(const Event& event, Actions& actions);
    /// Of a message that is sent while a resend is on. False where there is no room for it.
    bool hold(Action& action);

    // session_times.cpp
    [[nodiscard]] TimeFault check_times(const fix::Message& message) const;

    std::shared_ptr<const SessionRules> rules_;
    std::string user_;
    SequenceNumbers numbers_;
    ConnectionId connection_ = 0;
    std::int64_t heartbeat_ns_ = 0;  // 0: none
    std::int64_t now_ns_ = 0;
    std::int64_t received_ns_ = 0;
    std::int64_t sent_ns_ = 0;
    std::int64_t tested_ns_ = 0;  // when a test request was sent that was not answered; 0: none
    std::int64_t requested_until_ = 0;  // a resend request asks up to here; 0: none
    std::map<std::int64_t, Waiting> waiting_;
    std::size_t waiting_bytes_ = 0;
    Resend resend_;                          // that is on
    Resend next_resend_;                     // that was asked for meanwhile
    std::map<std::int64_t, Unkept> unkept_;  // behind resend_, and not kept by the ledger
    std::size_t unkept_bytes_ = 0;
    std::map<std::string, fix::Message> market_data_;  // requests that are on, by MDReqID
};

/// Checks the fields of an order, a cancel, a replace or a request of market data. Throws
/// FieldError.
void check_application(const fix::Message& message);

/// The bytes of its values together.
[[nodiscard]] std::size_t bytes_of(const fix::Message& message) noexcept;
/// More is no order, and does not wait for its turn either.
inline constexpr std::size_t application_bytes_max = std::size_t{16} << 10;

/// Up to 64 characters of ASCII that show, as the data manager requires it.
[[nodiscard]] bool is_comp_id(std::string_view text) noexcept;

/// Whether the type is one of FIX 4.4 by its form.
[[nodiscard]] bool is_message_type(std::string_view type) noexcept;

}  // namespace strid::exchange
