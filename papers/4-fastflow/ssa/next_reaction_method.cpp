// SPDX-License-Identifier: Apache-2.0
#include "next_reaction_method.hpp"

#include <boost/random/exponential_distribution.hpp>

namespace strid::ssa {

NextReactionMethod::NextReactionMethod(const Kinetics& kinetics, const Plan& plan)
    : Method(kinetics, plan), times_(kinetics.reactions()), propensities_(kinetics.reactions()) {}

double NextReactionMethod::draw_time(double propensity) {
    if (propensity == 0) return infinity;
    check_sum(propensity);
    boost::random::exponential_distribution<double> exponential;
    return time_ + exponential(generator_) / propensity;
}

void NextReactionMethod::prepare() {
    std::vector<double> times(kinetics_.reactions());
    for (std::size_t i = 0; i < times.size(); ++i) {
        propensities_[i] = propensity(i);
        times[i] = draw_time(propensities_[i]);
    }
    times_.assign(times);
}

/// A reaction whose propensity another has changed. One that could not happen before has no time to
/// scale: exponential times have no memory, so that a new one is as good.
void NextReactionMethod::update(std::size_t reaction) {
    const double before = std::exchange(propensities_[reaction], propensity(reaction));
    const double now = propensities_[reaction];
    if (now == before) return;
    if (before > 0 && now > 0) {
        check_sum(now);
        times_.set(reaction, time_ + before / now * (times_[reaction] - time_));
    } else {
        times_.set(reaction, draw_time(now));
    }
}

bool NextReactionMethod::go_on(std::uint64_t events, Recorder& recorder) {
    for (; events != 0; --events) {
        const double next = times_.empty() ? infinity : times_[times_.first()];
        if (record_before(next, recorder)) return true;
        time_ = next;
        ++steps_;
        const std::size_t reaction = times_.first();
        fire(reaction);
        if (kinetics_.changes_own_propensity(reaction)) {
            propensities_[reaction] = propensity(reaction);
        }
        times_.set(reaction, draw_time(propensities_[reaction]));
        for (const std::uint32_t i : kinetics_.dependents(reaction)) update(i);
    }
    return false;
}

}  // namespace strid::ssa
