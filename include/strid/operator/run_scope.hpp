// SPDX-License-Identifier: Apache-2.0
//
// What the operators of one run share with it: whether it was cut short, and what they have made
// that is to count only where all of the run has ended well. A run owns its scope, which outlives
// the operators; any thread may call any function.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace strid {

class RunScope {
  public:
    /// Something that is kept back until the whole run has ended well, as a file that replaces
    /// another.
    class Result {
      public:
        Result() = default;
        Result(const Result&) = delete;
        Result& operator=(const Result&) = delete;
        virtual ~Result() = default;
        /// Nothing failed, and no operator runs any more. May throw; may be called again.
        virtual void commit() = 0;
        /// The run failed or was cancelled, or this is committed.
        virtual void discard() noexcept = 0;
    };

    RunScope() = default;
    RunScope(const RunScope&) = delete;
    RunScope& operator=(const RunScope&) = delete;
    ~RunScope();

    void add(std::shared_ptr<Result> result);
    /// Commits all results, in the order in which they were added; throws the first failure, and
    /// what has not failed is committed nevertheless.
    void commit();
    /// The run was cancelled or has failed: waits for the outside world are given up.
    void interrupt() noexcept { interrupted_.store(true, std::memory_order_relaxed); }
    /// Relaxed: it hands over nothing, and what waits looks again.
    [[nodiscard]] const std::atomic<bool>& interrupted() const noexcept { return interrupted_; }

  private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<Result>> results_;  // under mutex_
    std::atomic<bool> interrupted_{false};
};

}  // namespace strid
