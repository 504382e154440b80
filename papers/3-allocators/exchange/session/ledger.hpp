// SPDX-License-Identifier: Apache-2.0
//
// Performs the actions of sessions durably: takes the actions that leave the graph, stores those
// that are there together in one transaction, and only then hands commands to the data manager and
// messages to the core.
//
// Parts of resends wait in a queue of their own, and a few are read with each transaction: what
// others do never waits for all of them.
//
// One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "session/action.hpp"
#include "session/core_link.hpp"
#include "session/data_link.hpp"
#include "session/store.hpp"

namespace strid::exchange {

class Ledger {
  public:
    Ledger(Store& store, CoreLink& core, DataLink& data, const Log& log);

    /// All of them, or what throws stores none. Throws InputOutputError.
    void carry_out(const std::vector<Action>& actions);
    /// Whether parts of resends wait: carry_out() has something to do without actions, too.
    [[nodiscard]] bool has_resends() const noexcept { return !resends_.empty(); }
    [[nodiscard]] std::uint64_t commits() const noexcept { return commits_; }

  private:
    void store(const Action& action);
    void send(const Action& action);
    void send_command(const Action& action);
    void close(const Action& action);
    void resend_part(const Action& action);
    bool resend_one(const Action& action, std::int64_t sequence, std::string_view bytes);
    void gap_fill(const Action& action, std::int64_t from, std::int64_t next);
    void to_core(const Action& action, const fix::Message& message);

    Store& store_;
    CoreLink& core_;
    DataLink& data_;
    const Log& log_;
    std::deque<Action> resends_;  // parts, one of a session at most
    ReportProgress reports_;
    std::int64_t next_command_;
    std::int64_t dropped_below_ = 0;
    std::uint64_t commits_ = 0;
    // Of the transaction that is on:
    std::vector<StoredCommand> commands_;
    struct Frames {
        std::uint64_t link;
        std::string bytes;
    };
    std::vector<Frames> frames_;
};

}  // namespace strid::exchange
