// SPDX-License-Identifier: Apache-2.0
//
// The session manager's side of the link to the data manager: commands go out, each until it is
// confirmed; reports come in, each once and in the order of their numbers. A link that breaks is
// made anew, and both sides say where they are: nothing is lost or doubled, whichever of the two
// was killed.
//
// Threads: one that connects and reads, one that writes, and any that add commands.
// Invariant: `unconfirmed_` holds the commands from `confirmed_` on, without gaps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "link/endpoint.hpp"
#include "link/log.hpp"
#include "session/action.hpp"
#include "session/store.hpp"

namespace strid::exchange {

class DataLink {
  public:
    struct Hooks {
        /// A report for a user; may wait. False ends the link.
        std::function<bool(Event)> take;
        /// The stores of both sides do not belong together.
        std::function<void(const std::string&)> fail;
    };
    /// The contents of the store: commands that were not confirmed, the number of the next, and
    /// which reports are done.
    struct Begin {
        std::vector<StoredCommand> commands;
        std::int64_t next_command;
        ReportProgress reports;
    };

    DataLink(Endpoint endpoint, Begin begin, Hooks hooks, const Log& log);
    ~DataLink();
    DataLink(const DataLink&) = delete;
    DataLink& operator=(const DataLink&) = delete;

    void start();

    /// Of commands that are durable on this side, in their order.
    void add(std::vector<StoredCommand> commands);
    /// Waits while `commands_max` are unconfirmed, or `bytes_max` bytes of them. False at the end.
    bool wait_for_room(std::size_t commands_max, std::size_t bytes_max);
    /// The data manager may forget the reports below `report`: they are durable on this side.
    void confirm_reports_below(std::int64_t report);
    /// Commands below are durable in the data manager.
    [[nodiscard]] std::int64_t confirmed() const noexcept {
        return confirmed_count_.load(std::memory_order_relaxed);
    }
    /// Ends the threads. Threads that wait for room go on.
    void stop();

  private:
    void run_reader();
    void run_writer();
    bool log_on(Socket& socket);
    void read(Socket& socket);
    void end_connection();
    bool handle(const fix::Message& message);
    void confirm_commands_below(std::int64_t sequence);
    [[nodiscard]] std::string take_batch();
    [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_relaxed); }

    Endpoint endpoint_;
    Hooks hooks_;
    const Log& log_;

    std::atomic<bool> ended_{false};             // relaxed: set under the mutex, or polled
    std::atomic<std::int64_t> confirmed_count_;  // relaxed: a hint of what may be deleted
    std::mutex mutex_;
    std::condition_variable changed_;        // for the writer
    std::condition_variable room_;           // for threads that wait for room
    std::deque<StoredCommand> unconfirmed_;  // guarded by mutex_, as all that follows
    std::size_t unconfirmed_bytes_ = 0;
    std::int64_t confirmed_ = 1;
    std::int64_t next_to_send_ = 1;
    std::int64_t next_command_ = 1;
    std::int64_t reports_durable_ = 1;
    std::int64_t reports_confirmed_ = 0;
    bool connected_ = false;
    bool sending_ = false;  // the writer uses socket_ without the mutex
    Socket socket_;         // changed with the mutex, while nothing is sent

    ReportProgress reports_;        // of the reader: what was done before this process
    std::int64_t next_report_ = 1;  // of the reader: what comes next on the link
    std::thread reader_, writer_;
};

}  // namespace strid::exchange
