// SPDX-License-Identifier: Apache-2.0
//
// Performs the actions of sessions durably: takes the actions that leave the graph, stores those
// that are there together in one transaction, and only then hands commands to the data manager and
// messages to the core.
//
// One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/action.hpp"
#include "session/core_link.hpp"
#include "session/data_link.hpp"
#include "session/store.hpp"

namespace strid::exchange {

class Ledger {
  public:
    Ledger(Store& store, CoreLink& core, DataLink& data);

    /// All of them, or what throws stores none. Throws InputOutputError.
    void carry_out(const std::vector<Action>& actions);
    [[nodiscard]] std::uint64_t commits() const noexcept { return commits_; }

  private:
    void store(const Action& action);
    void send(const Action& action);
    void send_command(const Action& action);
    void resend(const Action& action);
    void gap_fill(const Action& action, std::int64_t from, std::int64_t next);
    void to_core(const Action& action, const fix::Message& message);

    Store& store_;
    CoreLink& core_;
    DataLink& data_;
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
