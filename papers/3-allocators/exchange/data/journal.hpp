// SPDX-License-Identifier: Apache-2.0
//
// The journal: transactions of whole commands, and recovery. Owns the database, the positions, and
// the digest. One thread at a time.
//
// Invariants:
// - A transaction holds all that the commands a, a+1, ..., b have changed, and their reports; the
//   one before ended with a-1. So a journal is always the outcome of the commands 1 to n, whatever
//   was killed when.
// - Reports are numbered in the order of the commands, without gaps.
// - The digest in the row `state` is the sum of the digests of all rows (journal_rows.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/database.hpp"
#include "data/holdings.hpp"
#include "data/journal_rows.hpp"
#include "data/recovery.hpp"
#include "data/task.hpp"

namespace strid::exchange {

/// The content of a durable transaction.
struct Committed {
    CommandNumber last_command = 0;
    std::uint64_t first_report = 1;
    std::vector<std::string> reports = {};  ///< as they go over the link
};

class Journal {
  public:
    /// `recovered` is what recover() read from the same database.
    Journal(std::unique_ptr<Database> database, Recovered&& recovered);

    /// The number of the next command.
    [[nodiscard]] CommandNumber next_command() const noexcept { return state_.command + 1; }
    [[nodiscard]] std::uint64_t last_report() const noexcept { return state_.report; }
    /// Commands that the next commit() makes durable.
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
    [[nodiscard]] std::uint64_t acknowledged() const noexcept { return state_.acknowledged; }

    /// The command `next_command()`. O(changes log positions).
    void add(Matched&& matched);
    /// One transaction with all that was added; reports up to `acknowledged` are deleted. Throws
    /// InputOutputError: nothing of it is durable then, and the journal must not be used any more.
    Committed commit(std::uint64_t acknowledged);

  private:
    void put(const Matched& matched, CommandNumber command);
    void put_orders();
    void put_positions();
    void put_subscription_of(const std::string& symbol, const Subscription& one);
    void put_reports(Committed& committed);
    void drop_acknowledged(std::uint64_t up_to);

    std::unique_ptr<Database> database_;
    JournalState state_;     // with what was added
    std::uint64_t sum_ = 0;  // of the digests of all rows but `state`
    Holdings holdings_;
    std::vector<Matched> waiting_;
    // Digests of rows that may change or go; of an order only while it is open.
    std::unordered_map<OrderId, std::uint64_t> order_digests_;
    std::map<Holdings::Key, std::uint64_t> subscription_digests_;  // by user and symbol
    std::deque<std::uint64_t> report_digests_;                     // of `acknowledged` + 1, ...
    // Of the transaction.
    std::map<OrderId, std::pair<const std::string*, const Order*>> orders_;
    std::map<Holdings::Key, std::optional<Position>> positions_before_;  // empty: there was no row
};

}  // namespace strid::exchange
