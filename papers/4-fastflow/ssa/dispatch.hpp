// SPDX-License-Identifier: Apache-2.0
//
// Which trajectories a runner simulates next, which of them have failed, and the order in which
// their text is written. Used by the node that closes the loop of the farm (farm.cpp): one thread
// at a time. No pattern and no thread is known here.
//
// Invariants: text is written in the order of the trajectories. While a runner waits, the runner of
// the oldest trajectory that is not written is in the loop. The failure that is kept is that of the
// lowest number: lower ones are simulated to their end, so that it is the same in each run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner.hpp"

namespace strid::ssa {

using RunnerPointer = std::unique_ptr<Runner>;

class Dispatch {
  public:
    /// `write` gets the text of the trajectories; empty: none is kept. `runners`: how many there
    /// are.
    Dispatch(std::uint64_t runs, std::size_t runners, std::size_t values_of_one,
             std::function<void(std::string_view)> write)
        : limit_(runs),
          runners_(runners),
          values_of_one_(std::max<std::size_t>(values_of_one, 1)),
          write_(std::move(write)) {}

    /// A runner before its first slice, or after one; `ended`: its range is at its end, or has
    /// failed. Calls `again(runner)` for each runner that is to have a slice: this one, others that
    /// waited, or none.
    template <class Again>
    void back(RunnerPointer runner, bool ended, const Again& again) {
        if (runner->failure()) {
            keep_failure(*runner);
        } else if (!ended && runner->now() < limit_) {
            again(std::move(runner));
            return;
        }
        if (ended) finish(*runner);
        waiting_.push_back(std::move(runner));
        while (!waiting_.empty() && next_ < limit_ && pending_bytes_ <= pending_bytes_max) {
            begin_next(*waiting_.back());
            again(std::move(waiting_.back()));
            waiting_.pop_back();
        }
    }

    /// Trajectories that have ended.
    [[nodiscard]] std::uint64_t done() const noexcept { return done_; }
    /// Throws the failure that was kept.
    void rethrow_failure() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    void keep_failure(const Runner& runner) {
        if (runner.now() >= limit_) return;
        limit_ = runner.now();
        failure_ = runner.failure();
    }
    void finish(const Runner& runner) {
        events_ += runner.events();
        done_ += runner.now() - runner.first();
        if (!write_) return;
        pending_bytes_ += runner.text().size();
        pending_.emplace(runner.first(), Part{runner.now(), runner.text()});
        for (auto at = pending_.begin(); at != pending_.end() && at->first == written_;
             at = pending_.erase(at)) {
            write_(at->second.text);
            pending_bytes_ -= at->second.text.size();
            written_ = at->second.end;
        }
    }
    void begin_next(Runner& runner) {
        // As many as are worth a slice, as long as all runners have some.
        const std::uint64_t cost =
            done_ == 0 ? slice_events : std::max<std::uint64_t>(events_ / done_, 1);
        const std::uint64_t share = (limit_ - next_) / (4 * runners_);
        std::uint64_t count = std::min(slice_events / cost, share);
        if (write_) count = std::min<std::uint64_t>(count, values_max / values_of_one_);
        count = std::max<std::uint64_t>(count, 1);
        runner.begin(next_, next_ + count);
        next_ += count;
    }

  public:
    /// A slice: about a millisecond.
    static constexpr std::uint64_t slice_events = 20'000;

  private:
    // Text that waits for an older trajectory; above it no new ones are begun.
    static constexpr std::size_t pending_bytes_max = std::size_t{32} << 20U;
    static constexpr std::size_t values_max = 100'000;  // of text in a range

    struct Part {
        std::uint64_t end;
        std::string text;
    };

    std::uint64_t next_ = 0;
    std::uint64_t limit_;  // trajectories from here on are not wanted
    const std::size_t runners_;
    const std::size_t values_of_one_;
    const std::function<void(std::string_view)> write_;
    std::vector<RunnerPointer> waiting_;
    std::exception_ptr failure_;
    std::uint64_t done_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t written_ = 0;
    std::map<std::uint64_t, Part> pending_;
    std::size_t pending_bytes_ = 0;
};

}  // namespace strid::ssa
