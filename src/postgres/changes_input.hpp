// SPDX-License-Identifier: Apache-2.0
//
// The rows of a table and then their changes, as CSV: `postgres:...?changes=PUBLICATION&slot=NAME`.
// Threads: one at a time.
//
// The first copy is made in the snapshot of a new slot, SLOT_copy, so that the changes of the slot
// begin where the copy ends. When the copy was emitted, and is in a stored snapshot, the slot gets
// its own name: a slot of that name is one whose first copy is not needed any more, and what a
// killed copy has left is dropped by the next one.
//
// Invariant: rows come in the order of the copy and of the commits, and none twice. After a lost
// connection, and in a run that goes on, the server begins with the transaction (or the copy) of
// the place, and rows that were taken are passed over.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_fields.hpp>
#include <strid/engine/connector/taken_rows.hpp>

#include "change_place.hpp"
#include "change_stream.hpp"
#include "published.hpp"

namespace strid::postgres {

class ChangesInput final : public TransportInput {
  public:
    /// Throws GraphError, ConnectionLost and InputOutputError.
    explicit ChangesInput(TransportAddress address);
    ~ChangesInput() override;

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
        std::string publication;
        std::string slot;
        std::string table;
        bool makes_copy = true;
        bool until_end = false;
        std::uint64_t held_mib = 0;
        detail::MessageFields fields;
    };
    enum class Phase : std::uint8_t {
        before,  ///< a connection that does nothing yet, or none
        making,  ///< the server makes the slot
        copying,
        copied,  ///< the rows of the copy are not all emitted, or not in a snapshot
        streaming,
        ended
    };
    /// Of the transaction that comes.
    struct Transaction {
        Lsn commit = 0;  // 0: there is none
        std::string time_ms = {};
        std::string lsn = {};
        std::uint64_t rows = 0;  // that have come
    };
    /// The place of the first copy in the log, and its time.
    struct Copied {
        std::string lsn;
        Lsn at = 0;
        std::string time_ms;
    };

    [[noreturn]] void fail(const std::string& reason) const;
    [[noreturn]] void fail_of_place(const std::string& reason) const;
    [[noreturn]] void fail_of_copy() const;
    [[noreturn]] void fail_of_transaction() const;
    [[nodiscard]] bool has_snapshots() const noexcept;
    void fetch(int wait_ms);
    void step(int wait_ms);
    // Beginning.
    void begin();
    void begin_anew(Connection& questions);
    void make_slot(Connection& questions);
    void take_slot(int wait_ms);
    void begin_stream(Connection& questions);
    void name_slot(Connection& questions);
    void check_server() const;
    void check_slot(Connection& questions) const;
    void drop_first_slot(Connection& questions);
    // The first copy.
    void begin_copy(Lsn lsn);
    void take_copy(int wait_ms);
    void take_copied_row(std::string_view row);
    void end_copy();
    void wait_for_copy(int wait_ms);
    // Changes.
    void take_changes(int wait_ms);
    void take(const ReplicationMessage& message);
    void begin_transaction();
    void end_transaction();
    void check_relation() const;
    void take_change(std::string_view kind, const std::vector<ChangedValue>& values);
    void advance(Lsn lsn);
    void append_value(const ChangedValue& value, std::size_t column);
    void end_row(std::string_view kind, const std::string& time_ms, const std::string& lsn);
    void note_next();
    void confirm_passed();

    const Part part_;
    const TransportAddress server_;  // without the options of this input
    RunScope* const run_;
    PublishedTable table_;
    std::string header_;  // the columns of the table
    std::shared_ptr<ChangeStream> stream_;
    Phase phase_ = Phase::before;
    ChangePlace next_;    // behind the last row that was taken
    ChangePlace passed_;  // behind the last row that was emitted
    ChangePlace seen_;    // of a copy that is made once more: what has come of it
    Copied copied_;
    bool is_copy_safe_ = true;  // nothing of a copy is needed any more
    std::int64_t making_since_ns_ = 0;
    std::string system_;  // of the server whose places these are
    Transaction transaction_;
    ChangeMessage message_;
    std::optional<Lsn> end_;  // with until=end
    bool has_asked_ = false;  // for a snapshot
    bool has_warned_of_slot_ = false;
    bool has_warned_of_value_ = false;
    std::uint64_t header_bytes_ = 0;
    // A place is that behind the row. One without bytes is the end of a transaction.
    detail::TakenRows<ChangePlace> rows_;
    std::int64_t retry_at_ns_ = 0;
    std::string lost_;  // why; empty: it is connected
};

}  // namespace strid::postgres
