// SPDX-License-Identifier: Apache-2.0
#include "direct_method.hpp"

#include <algorithm>

#include <boost/random/exponential_distribution.hpp>
#include <boost/random/uniform_01.hpp>

namespace strid::ssa {

DirectMethod::DirectMethod(const Kinetics& kinetics, const Plan& plan)
    : Method(kinetics, plan), propensities_(std::max<std::size_t>(kinetics.reactions(), 1)) {}

void DirectMethod::prepare() {
    for (std::size_t i = 0; i < kinetics_.reactions(); ++i) propensities_.set(i, propensity(i));
    propensities_.settle_all();
}

void DirectMethod::update_after(std::size_t reaction) {
    const auto dependents = kinetics_.dependents(reaction);
    const bool own = kinetics_.changes_own_propensity(reaction);
    if (own) propensities_.set(reaction, propensity(reaction));
    for (const std::uint32_t i : dependents) propensities_.set(i, propensity(i));
    if (propensities_.is_small_for(dependents.size() + 1)) {
        propensities_.settle_all();
        return;
    }
    if (own) propensities_.settle(reaction);
    for (const std::uint32_t i : dependents) propensities_.settle(i);
}

bool DirectMethod::go_on(std::uint64_t events, Recorder& recorder) {
    boost::random::exponential_distribution<double> exponential;
    boost::random::uniform_01<double> uniform;
    for (; events != 0; --events) {
        const double sum = propensities_.sum();
        check_sum(sum);
        if (!(sum > 0)) {
            record_rest(recorder);
            return true;
        }
        const double next = time_ + exponential(generator_) / sum;
        if (record_before(next, recorder)) return true;
        time_ = next;
        ++steps_;
        const std::size_t reaction = propensities_.find(uniform(generator_) * sum);
        fire(reaction);
        update_after(reaction);
    }
    return false;
}

}  // namespace strid::ssa
