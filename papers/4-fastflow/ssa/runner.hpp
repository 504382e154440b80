// SPDX-License-Identifier: Apache-2.0
//
// Simulates a range of trajectories one after the other, a slice at a time, and hands on what is
// recorded: to statistics, and as text for those that want the trajectories themselves.
//
// Owns its method and its text; borrows the network and the plan. One thread at a time, any thread:
// between slices it may move from one to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "method.hpp"
#include "statistics.hpp"

namespace strid::ssa {

class Runner final : private Recorder {
  public:
    /// `keeps_text`: text() is to be filled.
    Runner(const Kinetics& kinetics, const Plan& plan, bool keeps_text);

    /// The trajectories from `first` to `last`, which is not one of them. The text is empty then.
    void begin(std::uint64_t first, std::uint64_t last);
    /// Goes on for so many events at most, and records into `statistics`. True where the range is
    /// at its end or a trajectory has failed.
    [[nodiscard]] bool advance(std::uint64_t events, Statistics& statistics);

    [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
    /// The trajectory that it is at; the end of the range after it.
    [[nodiscard]] std::uint64_t now() const noexcept { return now_; }
    /// The exception of the trajectory now(); null: none.
    [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }
    /// Events since begin(); to begin a trajectory counts as `begin_events`.
    [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
    /// Lines of CSV: number of the trajectory, time, counts.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

    /// The cost of seeding a generator and preparing the tables, in events.
    static constexpr std::uint64_t begin_events = 500;

  private:
    void record(std::uint64_t trajectory, std::size_t sample, const double* counts) override;

    const Plan& plan_;
    const std::vector<bool> reals_;
    const bool keeps_text_;
    std::unique_ptr<Method> method_;
    Statistics* statistics_ = nullptr;
    std::uint64_t first_ = 0;
    std::uint64_t now_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t events_ = 0;
    bool begun_ = false;
    std::exception_ptr failure_;
    std::string text_;
};

}  // namespace strid::ssa
