// SPDX-License-Identifier: Apache-2.0
//
// A method of stochastic simulation as a machine that is at one point of one trajectory: it goes on
// for some events at a time and records the counts at the sample times that it passes.
//
// Owns its own tables; borrows the network and the plan. One thread at a time, any thread.
// Invariant: what a trajectory does depends on the network, the plan and its number only, never on
// how it is cut into slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <boost/random/mixmax.hpp>

#include "network.hpp"

namespace strid::ssa {

enum class MethodKind : std::uint8_t {
    direct,
    next_reaction,
    tau_leaping,
    implicit_tau,
    trapezoidal_tau
};

/// The simulated system, the same for all trajectories.
struct Plan {
    MethodKind method = MethodKind::direct;
    double until = 0;
    /// Equal intervals between samples: there is one sample more, at time 0.
    std::size_t intervals = 100;
    std::uint64_t seed = 1;
    std::uint64_t steps_max = 1'000'000'000;
    /// Of tau-leaping: the relative change of a propensity in a leap.
    double epsilon = 0.03;

    [[nodiscard]] std::size_t samples() const noexcept { return intervals + 1; }
    [[nodiscard]] double sample_time(std::size_t sample) const noexcept {
        return until * static_cast<double>(sample) / static_cast<double>(intervals);
    }
};

/// Takes what is recorded.
class Recorder {
  public:
    virtual ~Recorder() = default;
    /// The counts of all species at a sample time. Each trajectory has each sample once, in order.
    virtual void record(std::uint64_t trajectory, std::size_t sample, const double* counts) = 0;
};

/// Its streams for different numbers are guaranteed not to overlap (Savvidy's MIXMAX).
using Generator = boost::random::mixmax;
/// The generator of a trajectory, by seed and number alone.
[[nodiscard]] Generator generator_of(std::uint64_t seed, std::uint64_t trajectory);

class Method {
  public:
    Method(const Kinetics& kinetics, const Plan& plan);
    virtual ~Method() = default;
    Method(const Method&) = delete;
    Method& operator=(const Method&) = delete;

    /// At time 0 of the trajectory of this number.
    void begin(std::uint64_t trajectory);
    /// Goes on for `events` at most; true at the end of the trajectory. Throws Error, which names
    /// the trajectory, where a propensity is no finite number from 0 on, a count leaves [0,
    /// count_max], or the trajectory has more than the plan's steps.
    [[nodiscard]] bool advance(std::uint64_t events, Recorder& recorder);

    [[nodiscard]] std::uint64_t trajectory() const noexcept { return trajectory_; }
    /// Events so far; a leap counts as one.
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
    [[nodiscard]] double time() const noexcept { return time_; }

  protected:
    virtual void prepare() = 0;
    /// The same as advance(), without the limit of steps.
    virtual bool go_on(std::uint64_t events, Recorder& recorder) = 0;

    /// Checked.
    [[nodiscard]] double propensity(std::size_t reaction) const {
        const double value = kinetics_.propensity(reaction, counts_.data());
        if (kinetics_.is_checked(reaction) && !(value >= 0 && value < infinity)) {
            fail_propensity(reaction, value);
        }
        return value;
    }
    /// The sum of propensities, or one of them, is a finite number.
    void check_sum(double sum) const {
        if (!(sum < infinity)) fail_sum();
    }
    /// Counts after an event.
    void fire(std::size_t reaction) {
        for (const Change& change : kinetics_.changes(reaction))
            counts_[change.species] += change.by;
        if (kinetics_.is_checked(reaction)) check_counts_of(reaction);
    }
    /// Records what stands until `time` (not included); true where there is no further sample.
    bool record_before(double time, Recorder& recorder) {
        while (next_time_ < time) record_next(recorder);
        return next_sample_ == plan_.samples();
    }
    /// The same for samples at `time`, which is finite, too.
    bool record_until(double time, Recorder& recorder) {
        while (next_time_ <= time) record_next(recorder);
        return next_sample_ == plan_.samples();
    }
    /// Nothing happens any more.
    void record_rest(Recorder& recorder) { (void)record_before(infinity, recorder); }
    [[noreturn]] void fail(const std::string& what) const;

    static constexpr double infinity = std::numeric_limits<double>::infinity();

    const Kinetics& kinetics_;
    const Plan& plan_;
    Generator generator_{generator_of(0, 0)};
    std::vector<double> counts_;  // and the time, for what reads it
    double time_ = 0;
    double next_time_ = 0;  // of the next sample; infinity: there is none
    std::uint64_t steps_ = 0;

  private:
    [[noreturn]] void fail_sum() const;
    void check_recorded() const;
    void record_next(Recorder& recorder);
    void check_counts_of(std::size_t reaction) const;
    [[noreturn]] void fail_propensity(std::size_t reaction, double value) const;

    const std::vector<double> initial_;
    std::size_t next_sample_ = 0;
    std::uint64_t trajectory_ = 0;
};

/// The method of the plan.
[[nodiscard]] std::unique_ptr<Method> make_method(const Kinetics& kinetics, const Plan& plan);

}  // namespace strid::ssa
