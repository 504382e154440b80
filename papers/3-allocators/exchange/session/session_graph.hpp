// SPDX-License-Identifier: Apache-2.0
//
// The sessions of all users as a graph: events come in by a door, are partitioned by user, each
// user has a Session with its timers, and actions leave by another door.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/action.hpp"
#include "session/session.hpp"

namespace strid::exchange {

class SessionGraph {
  public:
    /// `numbers` is what is kept of each user; `workers` threads and replicas.
    SessionGraph(std::map<std::string, SequenceNumbers> numbers, const SessionRules& options,
                 std::size_t workers);
    ~SessionGraph();

    /// Any thread. Waits for room; false at the end.
    bool push(Event event);
    /// One thread. Waits for an action and takes what is there with it, `actions_max` at most;
    /// false at the end.
    bool pop(std::vector<Action>& actions, std::size_t actions_max);
    /// Takes the actions that are there, maybe none.
    void try_pop(std::vector<Action>& actions, std::size_t actions_max);
    /// No more events: those that are there are handled, then pop() ends.
    void stop();
    /// At once.
    void cancel();
    /// After the end; throws what ended the graph.
    void wait();

  private:
    void take_more(std::vector<Action>& actions, std::size_t actions_max);

    struct Doors;
    std::unique_ptr<Doors> doors_;
};

}  // namespace strid::exchange
