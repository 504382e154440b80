// SPDX-License-Identifier: Apache-2.0
#include "method.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "direct_method.hpp"
#include "hybrid_method.hpp"
#ifdef STRID_SSA_WITH_EIGEN
#include "implicit_leaping.hpp"
#endif
#include "next_reaction_method.hpp"
#include "real_statistics.hpp"
#include "tau_leaping.hpp"

namespace strid::ssa {

Generator generator_of(std::uint64_t seed, std::uint64_t trajectory) {
    const auto high = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits >> 32U); };
    const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
    // The generator requires at least one bit that is set.
    return Generator{high(seed), low(seed), high(trajectory + 1), low(trajectory + 1)};
}

Method::Method(const Kinetics& kinetics, const Plan& plan)
    : kinetics_(kinetics), plan_(plan), initial_(kinetics.initial_counts()) {}

void Method::begin(std::uint64_t trajectory) {
    trajectory_ = trajectory;
    generator_ = generator_of(plan_.seed, trajectory);
    counts_ = initial_;
    time_ = 0;
    next_sample_ = 0;
    next_time_ = 0;
    steps_ = 0;
    prepare();
}

bool Method::advance(std::uint64_t events, Recorder& recorder) {
    const std::uint64_t left = plan_.steps_max - steps_;
    if (go_on(std::min(events, left), recorder)) return true;
    if (steps_ >= plan_.steps_max) {
        const bool may_leap = plan_.method <= MethodKind::next_reaction && !kinetics_.is_hybrid();
        fail(fmt::format("has not ended after {} steps, at time {} of {} (--steps-max{})", steps_,
                         time_, plan_.until, may_leap ? "; the methods with tau make fewer" : ""));
    }
    return false;
}

/// Says which of the propensities it is.
void Method::fail_sum() const {
    for (std::size_t i = 0; i < kinetics_.reactions(); ++i) {
        const double value = kinetics_.propensity(i, counts_.data());
        if (!(value >= 0 && value < infinity)) fail_propensity(i, value);
    }
    fail(fmt::format("has propensities without a finite sum at time {}", time_));
}

void Method::check_recorded() const {
    for (std::size_t i = 0; i < kinetics_.species(); ++i) {
        const Species& species = kinetics_.network().species[i];
        if (!species.real && !(counts_[i] <= count_max)) {
            fail(fmt::format("has a count of '{}' above {} at time {}", species.name, count_max,
                             next_time_));
        }
        if (species.real && !(std::fabs(counts_[i]) <= real_max)) {
            fail(fmt::format("has a value of '{}' at time {} that is no number up to {}: {}",
                             species.name, next_time_, real_max, counts_[i]));
        }
    }
}

void Method::record_next(Recorder& recorder) {
    counts_[kinetics_.network().time()] = next_time_;
    kinetics_.assign(counts_.data());
    check_recorded();
    recorder.record(trajectory_, next_sample_, counts_.data());
    ++next_sample_;
    next_time_ = next_sample_ < plan_.samples() ? plan_.sample_time(next_sample_) : infinity;
}

void Method::check_counts_of(std::size_t reaction) const {
    for (const Change& change : kinetics_.changes(reaction)) {
        if (counts_[change.species] >= 0) continue;
        fail(
            fmt::format("has a count of '{}' below 0 at time {}: the rate of reaction '{}' is to "
                        "be 0 where a reactant is missing",
                        kinetics_.network().species[change.species].name, time_,
                        kinetics_.network().reactions[reaction].name));
    }
}

void Method::fail_propensity(std::size_t reaction, double value) const {
    const std::string& name = kinetics_.network().reactions[reaction].name;
    if (value < 0) {
        fail(
            fmt::format("has a negative propensity of reaction '{}' at time {}: {} (a reversible "
                        "reaction is to be given as two)",
                        name, time_, value));
    }
    fail(fmt::format("has a propensity of reaction '{}' at time {} that is no finite number: {}",
                     name, time_, std::fabs(value)));  // a NaN without its sign
}

void Method::fail(const std::string& what) const {
    throw Error(fmt::format("trajectory {} {}", trajectory_, what));
}

namespace {

std::unique_ptr<Method> make_implicit(const Kinetics& kinetics, const Plan& plan) {
#ifdef STRID_SSA_WITH_EIGEN
    const double weight = plan.method == MethodKind::implicit_tau ? 1 : 0.5;
    return std::make_unique<ImplicitLeaping>(kinetics, plan, weight);
#else
    throw GraphError("this strid-ssa was built without Eigen, which the implicit methods need");
#endif
}

}  // namespace

std::unique_ptr<Method> make_method(const Kinetics& kinetics, const Plan& plan) {
    if (kinetics.is_hybrid()) return std::make_unique<HybridMethod>(kinetics, plan);
    switch (plan.method) {
        case MethodKind::direct:
            return std::make_unique<DirectMethod>(kinetics, plan);
        case MethodKind::next_reaction:
            return std::make_unique<NextReactionMethod>(kinetics, plan);
        case MethodKind::tau_leaping:
            return std::make_unique<TauLeaping>(kinetics, plan);
        case MethodKind::implicit_tau:
        case MethodKind::trapezoidal_tau:
            return make_implicit(kinetics, plan);
    }
    return nullptr;
}

}  // namespace strid::ssa
