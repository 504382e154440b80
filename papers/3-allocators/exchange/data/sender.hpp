// SPDX-License-Identifier: Apache-2.0
//
// The way out of the data manager: reports that are durable, acknowledgements of commands, and
// heartbeats, to the one session manager that is logged on. Owns a thread, which alone sends to
// that socket. Any thread may call.
//
// Invariant: a link gets the reports from the one that it asked for, each once, in order, without
// gaps: those that were made before it logged on come from the journal. A report without a link is
// dropped here; the journal has it. A command is acknowledged behind its reports.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "data/database.hpp"
#include "data/journal.hpp"
#include "link/log.hpp"
#include "link/socket.hpp"

namespace strid::exchange {

struct SenderOptions {
    std::chrono::milliseconds heartbeat{1'000};
    std::size_t queue_bytes_max = std::size_t{16} << 20;
    /// A session manager that takes nothing for so long is cut off.
    std::chrono::milliseconds send_patience{30'000};
};

class Sender {
  public:
    using OpenJournal = std::function<std::unique_ptr<Database>()>;

    /// Where the journal ends.
    struct Begin {
        std::uint64_t last_report;
        CommandNumber next_command;
    };

    /// `open` gives the thread a connection of its own, when it needs one first.
    Sender(OpenJournal open, Begin begin, SenderOptions options, const Log& log);
    ~Sender();
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    /// Reports that are durable. Waits while the link has too much to take.
    void publish(Committed&& committed);
    /// From now on reports go to `socket`, from `first_report` on, behind the answer to its Logon.
    /// The link before ends.
    void attach(std::shared_ptr<Socket> socket, std::uint64_t first_report);
    /// Ends the link with a Logout that says why, if it is the one of `socket`.
    void detach(const std::shared_ptr<Socket>& socket, std::string why);
    /// Sends what there is, for two seconds at most, and ends the thread.
    void stop();

  private:
    struct Link {
        std::shared_ptr<Socket> socket = {};
        std::uint64_t next_report = 0;
        bool is_new = false;
        std::string end = {};  // why it ends; empty: it goes on
    };

    void run();
    void serve(std::unique_lock<std::mutex>& lock);
    void send_queued(std::unique_lock<std::mutex>& lock);
    /// Of the thread; false where the link is gone.
    bool replay(Link& link);
    bool send(Link& link, std::string_view bytes);
    [[nodiscard]] std::string control(std::string_view type, std::string_view text = {}) const;
    void drop_link();

    const OpenJournal open_;
    const SenderOptions options_;
    const Log& log_;

    std::mutex mutex_;
    std::condition_variable changed_;  // for the thread
    std::condition_variable room_;     // for publish() and stop()
    // Guarded by mutex_.
    std::deque<Committed> queue_;
    std::size_t queue_bytes_ = 0;
    std::shared_ptr<Link> link_;
    bool has_link_ = false;
    bool is_idle_ = false;
    bool stopped_ = false;
    bool ended_ = false;

    std::unique_ptr<Database> journal_;  // of the thread
    std::uint64_t last_taken_;           // of the thread: the last report that left the queue
    CommandNumber next_command_;         // of the thread: those before have their reports there
    std::thread thread_;                 // last: it uses the rest
};

}  // namespace strid::exchange
