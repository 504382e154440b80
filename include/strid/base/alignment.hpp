// SPDX-License-Identifier: Apache-2.0
//
// Sources that keep step: the sources of one alignment wait for the slowest of them, so that a
// window or a join behind them need not hold the records that the fastest sends early. Flink calls
// it watermark alignment.
//
// Threads: any. Invariant: a member that may go on is at most `drift` ahead of the slowest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>

namespace strid {

/// Pass a copy to each source that is to keep step; copies are the same alignment.
class Alignment {
  public:
    /// A source may be at most `drift` ahead of the slowest. Throws Error if `drift` is negative.
    explicit Alignment(Duration drift) : state_(std::make_shared<State>()) {
        if (drift < Duration::zero()) throw Error("the drift of aligned sources is negative");
        state_->drift = drift;
    }
    /// Adds a replica of a source, whose time is not known yet. Returns its number.
    [[nodiscard]] std::size_t join() {
        const std::lock_guard lock{state_->mutex};
        state_->members.push_back(EventTime::earliest());
        return state_->members.size() - 1;
    }
    /// The member has reached `time`; EventTime::latest() if no member needs to wait for it.
    /// Returns whether it may go on. O(members), under a lock: once per run of a source.
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
