// SPDX-License-Identifier: Apache-2.0
//
// Tau-leaping with adaptive steps (Cao, Gillespie and Petzold 2006): all reactions happen a Poisson
// number of times in a leap that changes no propensity by more than a part `epsilon` of it, about.
// A reaction that could use up a reactant within ten events is critical and happens once in a leap
// at most; where a leap would be worth ten events or fewer, a hundred events are done one by one.
//
// A leap is two halves, the second with propensities extrapolated from both ends of the first: the
// weak trapezoidal method (Anderson and Koyama 2012), of second order in mean and variance. With
// the propensities of the start alone, counts that approach an equilibrium are ahead of it.
//
// A leap ends at the next sample time at the latest. One thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "direct_method.hpp"

namespace strid::ssa {

class TauLeaping : public DirectMethod {
  public:
    TauLeaping(const Kinetics& kinetics, const Plan& plan);

  protected:
    void prepare() override;
    bool go_on(std::uint64_t events, Recorder& recorder) override;

    /// Of the propensities and the critical reactions of now.
    [[nodiscard]] virtual double largest_leap();
    /// The events of all that is not critical. False where a count is below 0 on the way.
    [[nodiscard]] virtual bool leap_over(double duration);

    [[nodiscard]] double poisson(std::size_t reaction, double expected);
    void happen(std::size_t reaction, double times);
    [[nodiscard]] bool is_below_0() const;

    std::vector<unsigned char> critical_;
    /// Reactions that do not limit a leap: of none here.
    std::vector<unsigned char> balanced_;
    /// How much of a count may be replaced in a leap.
    double turnover_part_;

  private:
    /// The highest order of a reaction that a species is a reactant of, and how many of it the
    /// reaction takes; order 0: of none.
    struct HighestOrder {
        double order = 0;
        int own = 0;
    };

    void find_orders();
    [[nodiscard]] double change_bound(std::size_t species) const;
    void find_critical();
    bool leap(Recorder& recorder);
    [[nodiscard]] bool try_leap(double duration, bool critical_event);
    [[nodiscard]] std::size_t draw_critical();

    std::vector<HighestOrder> orders_;
    double critical_sum_ = 0;
    std::uint64_t single_events_ = 0;  // still to be done one by one
    std::vector<double> before_;       // counts before a leap
    std::vector<double> mean_;         // change of each count in a unit of time
    std::vector<double> variance_;
    std::vector<double> turnover_;  // gains and losses of each count in a unit of time
    std::vector<double> middle_;    // propensities of the second half
};

}  // namespace strid::ssa
