// SPDX-License-Identifier: Apache-2.0
//
// The end of the graph: puts the results of the replicas back into the order of the commands, and
// commits all that are there in one transaction (group commit). Has a thread of its own, because a
// commit waits for the disk; meanwhile the next transaction gathers.
//
// Invariant: the committed commands are all commands up to a number. The unit of a transaction is
// not what one replica has, but a prefix of the stream: so keys may be matched by as many replicas
// as there are cores, and the journal stays that of a sequential exchange.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>

#include <strid/operator/contract.hpp>

#include "data/journal.hpp"
#include "data/progress.hpp"
#include "data/sender.hpp"
#include "data/task.hpp"

namespace strid::exchange {

class Committer {
  public:
    static constexpr FunctionTraits traits{
        .hears = events<Opened, Flush, Closed>, .has = Has::blocks, .one_replica = true};

    /// A transaction has `commands_max` commands at most. Borrows all; `journal` is used by this
    /// alone from now on.
    Committer(Journal& journal, Progress& progress, Sender& sender, std::size_t commands_max)
        : journal_(&journal), progress_(&progress), sender_(&sender), commands_max_(commands_max) {}

    [[nodiscard]] bool blocks() const noexcept { return true; }
    void on(const Opened& opened);
    void operator()(Matched&& matched);
    /// Nothing more is there.
    void on(Flush);
    void on(Closed);
    auto state() { return std::tie(early_); }

  private:
    void commit();

    Journal* journal_;
    Progress* progress_;
    Sender* sender_;
    std::size_t commands_max_;
    std::map<CommandNumber, Matched> early_;  // whose predecessors are on their way
    Counter transactions_;
    Counter reports_;
    Counter trades_;
};

}  // namespace strid::exchange
