// SPDX-License-Identifier: Apache-2.0
//
// Checks the passwords of Logons (553, 554) before they reach their sessions. A check takes long on
// purpose, so a thread of its own makes them; what a client sends behind its Logon waits for it.
// A Logon that is refused goes on to its session with a fault, not before `refused_after`, however
// long the check took: the time does not show which users there are.
//
// Threads: one gives events, one checks. Without passwords every event passes at once.
// Invariant: no Logon of a connection that was not admitted reaches a session without a check.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "access/passwords.hpp"
#include "link/log.hpp"
#include "session/action.hpp"

namespace strid::exchange {

class LogonGate {
  public:
    using Push = std::function<bool(Event)>;

    /// `passwords` is null where none are asked for.
    LogonGate(std::unique_ptr<Passwords> passwords, Push push, const Log& log);
    ~LogonGate();
    LogonGate(const LogonGate&) = delete;
    LogonGate& operator=(const LogonGate&) = delete;

    /// False at the end.
    bool take(Event event);
    /// Ends the thread; what waits is dropped.
    void stop();

  private:
    using Clock = std::chrono::steady_clock;
    struct Waiting {
        std::deque<Event> events;  // a Logon, and what came behind it
        Clock::time_point came;
        bool is_closed = false;  // the connection is gone
    };

    void run();
    bool wait_behind(Waiting& waiting, Event event);
    bool refuse(Event event, std::string why);
    /// Empty where the Logon is right.
    [[nodiscard]] std::string check(const Event& event);
    void finish(ConnectionId connection, const std::string& fault);
    void refuse_those_due();

    std::unique_ptr<Passwords> passwords_;  // of the thread, after the constructor
    Push push_;
    const Log& log_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool ended_ = false;  // guarded by mutex_, as all that follows
    std::unordered_map<ConnectionId, Waiting> waiting_;
    std::unordered_set<ConnectionId> admitted_;
    std::deque<ConnectionId> to_check_;
    struct Refused {
        ConnectionId connection;
        Clock::time_point due;
        std::string fault;
    };
    std::deque<Refused> refused_;  // by the time when they are due
    std::thread thread_;
};

}  // namespace strid::exchange
