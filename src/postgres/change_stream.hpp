// SPDX-License-Identifier: Apache-2.0
//
// A replication connection and its slot: messages come in, and the server is sent up to where it
// may forget changes. Shared by the input, which reads, and by the scope of the run, so that a
// snapshot that is stored behind the end of the input is still confirmed.
//
// A thread sends a status every few seconds, so that the server does not give up a connection whose
// messages wait because the graph is held back; it also looks how much of the log the slot holds.
//
// Invariant: a place is confirmed only when a stored snapshot is at it or behind it; in a run
// without snapshots, when the rows before it were emitted.
//
// Threads: one reads; those of the run may call what RunScope::Result has.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <strid/operator/run_scope.hpp>

#include "connection.hpp"
#include "pgoutput.hpp"

namespace strid::postgres {

class ChangeStream final : public RunScope::Result {
  public:
    struct Options {
        std::string slot;
        std::string publication;
        std::uint64_t held_mib_max = 0;  ///< More of the log that is held is warned of.
    };
    /// `run`: null: there is none. Connects to nothing.
    ChangeStream(const TransportAddress& server, Options options, RunScope* run);
    ~ChangeStream() override { end(); }

    /// Connects. Throws ConnectionLost and InputOutputError.
    void open();
    [[nodiscard]] bool is_open() const noexcept { return connection_.is_open(); }
    void close() noexcept;
    /// For commands, until start().
    [[nodiscard]] Connection& connection() noexcept { return connection_; }
    /// Which server it is, behind open(), and the end of its log then.
    [[nodiscard]] const std::string& system() const noexcept { return system_; }
    [[nodiscard]] Lsn end_of_log() const noexcept { return end_of_log_; }

    /// From now on messages come, from this place on; the slot is there.
    void start(Lsn from);
    /// The next message, of which the caller has the bytes until the next call; empty: none has
    /// come in this time. `at_hand`: of those that were received, without a call of the system.
    /// Throws ConnectionLost and InputOutputError.
    static constexpr int at_hand = -1;
    [[nodiscard]] std::string_view next(int wait_ms);

    /// All before it was emitted by a run without snapshots, or is in a snapshot that was stored.
    void confirm(Lsn place);
    /// All before it is in the snapshot that has begun.
    void saved(Lsn place);
    /// The input has ended there: snapshots that begin from now on have all before it.
    void ended(Lsn place);
    /// Up to where the server may forget changes; 0: nothing was confirmed yet.
    [[nodiscard]] Lsn confirmed() const;

    void commit() override {}
    void finish() override;
    void discard() noexcept override { end(); }
    void snapshot_begins(std::uint64_t snapshot) noexcept override;
    void snapshot_ended(std::uint64_t snapshot, bool is_stored) noexcept override;

  private:
    using Lock = std::unique_lock<std::mutex>;
    struct FreesMessage {
        void operator()(char* message) const noexcept { ::PQfreemem(message); }
    };

    void keep_alive(const std::stop_token& stop);
    void send_status() noexcept;
    void look() noexcept;
    void look_at_slot();
    void end() noexcept;

    const Options options_;
    RunScope* const run_;
    const std::string address_;  // for messages
    std::string system_;
    Lsn end_of_log_ = 0;
    Connection connection_;
    std::unique_ptr<char, FreesMessage> message_;
    Connection watch_;                   // of the thread, for questions
    bool has_warned_ = false;            // of the thread
    mutable std::mutex mutex_;           // also of the connection, while messages come
    std::condition_variable_any sleep_;  // of the thread
    bool is_streaming_ = false;
    bool is_due_ = false;  // a status, before its time
    std::int64_t status_every_ns_ = 0;
    Lsn confirmed_ = 0;
    Lsn saved_ = 0;        // in the snapshot that has begun; 0: nothing that was not confirmed
    Lsn ended_ = 0;        // where the input has ended; 0: it has not
    std::jthread thread_;  // ends first
};

}  // namespace strid::postgres
