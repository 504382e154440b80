// SPDX-License-Identifier: Apache-2.0
//
// A sink that counts records and forgets them. Each replica counts for itself and adds its number
// to the shared one at on(Flush) and on(Closed); any thread may read that. While records come fast,
// Flush may not come for long, and the shared number is behind. It is exact after a run that
// ended well; after one that failed or was cancelled it may lack the last records.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include <strid/base/state_share.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

/// Relaxed throughout: a number on its own, exact after a run that ended well.
using DiscardCount = std::atomic<std::uint64_t>;

/// The sink that `discard` makes.
class Discard {
  public:
    /// Replicas share only the sum: there may be as many as what feeds them has.
    static constexpr FunctionTraits traits{.hears = events<Flush, Closed>,
                                           .parallel_by_default = true};

    /// Adds to `count` at on(Flush) and on(Closed).
    explicit Discard(std::shared_ptr<DiscardCount> count) : count_(std::move(count)) {}

    /// Counts the record.
    template <class T>
    void operator()(const T& /*record*/) noexcept {
        ++unpublished_;
    }
    void on(Flush) noexcept {
        count_->fetch_add(std::exchange(unpublished_, 0), std::memory_order_relaxed);
    }
    void on(Closed) noexcept { on(Flush{}); }
    auto state() { return std::tie(unpublished_); }
    /// Of replicas that go on as another number of them: what none has published yet.
    void merge_state(const Discard& other) noexcept { unpublished_ += other.unpublished_; }
    /// One replica has it.
    void split_state(StateShare share) noexcept {
        if (share.replica != 0) unpublished_ = 0;
    }

  private:
    std::shared_ptr<DiscardCount> count_;
    std::uint64_t unpublished_ = 0;
};

/// Forgets records; `count`, if given, holds how many there were. It is added to and never set
/// back: several runs of the graph, and several sinks with one `count`, add up. Not null.
[[nodiscard]] inline Discard discard(
    std::shared_ptr<DiscardCount> count = std::make_shared<DiscardCount>()) {
    return Discard(std::move(count));
}

}  // namespace strid
