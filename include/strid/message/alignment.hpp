// SPDX-License-Identifier: Apache-2.0
//
// Sources that keep step: those of one alignment wait for the slowest of them, so that a window or
// a join behind them does not have to hold what the fastest brings early. What Flink calls
// watermark alignment.
//
// Threads: any. The law: a member that may go on is at most `drift` ahead of the slowest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>

namespace strid {

/// Given to each source that is to keep step; copies are the same alignment.
class Alignment {
  public:
    /// A source may be this far ahead of the slowest. Throws Error for a drift that is negative.
    explicit Alignment(Duration drift) : state_(std::make_shared<State>()) {
        if (drift < Duration::zero()) throw Error("the drift of aligned sources is negative");
        state_->drift = drift;
    }
    /// A replica of a source joins, of which nothing is known yet. Returns its number.
    [[nodiscard]] std::size_t join() {
        const std::lock_guard lock{state_->mutex};
        state_->members.push_back(EventTime::earliest());
        return state_->members.size() - 1;
    }
    /// The member has come so far; EventTime::latest() where nobody is to wait for it. Returns
    /// whether it may go on. O(members), under a lock: once per run of a source.
    bool may_go_on(std::size_t member, EventTime time) {
        const std::lock_guard lock{state_->mutex};
        auto& members = state_->members;
        members[member] = time;
        return time <= *std::min_element(members.begin(), members.end()) + state_->drift;
    }

  private:
    struct State {
        std::mutex mutex;
        Duration drift{};
        std::vector<EventTime> members;  // guarded by mutex
    };
    std::shared_ptr<State> state_;
};

}  // namespace strid
