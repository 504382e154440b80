// SPDX-License-Identifier: Apache-2.0
//
// Networks of which something changes between the events of reactions: quantities with a rate of
// change, propensities that read them or the time, and events of the model (SBML level 3, section
// 4.11). A reaction happens when the integral of the sum of the propensities reaches an exponential
// number (Davis 1984): exact but for the error of the integration, which is 1e-7 of a quantity a
// step (Dormand and Prince 1980, by Boost.Odeint).
//
// A step ends at the next sample, at the event of a reaction, where a comparison of a trigger
// changes, or where a delayed event is due: the time of these is found by bisection. A comparison
// that changes twice within a step is not seen. One thread at a time.
// Invariant between steps: no event is due; triggers_ and conditions_ are those of the counts and
// the time.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>

#include "method.hpp"

namespace strid::ssa {

class HybridMethod final : public Method {
  public:
    HybridMethod(const Kinetics& kinetics, const Plan& plan);

  protected:
    void prepare() override;
    bool go_on(std::uint64_t events, Recorder& recorder) override;

  private:
    using Values = std::vector<double>;

    /// An event that has been triggered and not happened yet.
    struct Waiting {
        std::size_t event;
        double time;
        Values values;  ///< to be set; empty: they are those of the time when it happens
    };

    void step();
    [[nodiscard]] double integrate_until(double stop);
    [[nodiscard]] bool try_step(double duration);
    [[nodiscard]] double error_of_step() const;
    void move(double duration);
    [[nodiscard]] bool is_reaction_due() const;
    [[nodiscard]] double time_of_reaction(double duration);
    [[nodiscard]] double first_change(double duration);
    void derive(const Values& values, Values& changes, double time);
    void write(const Values& values, double time);
    void happen();
    void draw_next();

    [[nodiscard]] bool is_true(const CompiledRate& condition) const;
    [[nodiscard]] bool conditions_differ() const;
    void update_conditions();
    void update_triggers();
    void trigger(std::size_t event);
    void draw_numbers(const CompiledEvent& event);
    void run_events();
    [[nodiscard]] std::size_t next_due();
    void execute(const Waiting& waiting);
    [[nodiscard]] Values values_of(std::size_t event);
    void set(const CompiledEvent& event, const CompiledSetting& setting, double value);

    const std::size_t driven_;  // number of quantities with a rate
    const bool moves_;          // rates are to be integrated
    boost::numeric::odeint::runge_kutta_dopri5<Values> stepper_;
    Values values_;  // driven quantities at the begin of a step, and the integral of propensities
    Values changes_;
    Values next_values_;
    Values next_changes_;
    Values error_;
    Values scale_;            // the greatest that each was
    double step_ = 0;         // that the error allows
    double reaction_in_ = 0;  // of the integral of propensities, until the next reaction
    std::vector<bool> triggers_;
    std::vector<bool> conditions_;  // at the begin of the step
    std::vector<Waiting> waiting_;
};

}  // namespace strid::ssa
