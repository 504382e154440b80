// SPDX-License-Identifier: Apache-2.0
#include "hybrid_method.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <boost/math/tools/toms748_solve.hpp>
#include <boost/random/exponential_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <fmt/format.h>

namespace strid::ssa {

namespace {

constexpr double tolerance = 1e-7;
// Of the greatest value that a quantity had, for one that goes to 0.
constexpr double tolerance_of_greatest = 1e-10;
constexpr double tolerance_of_integral = 1e-7;
constexpr int bisections = 60;
constexpr int events_at_once_max = 10'000;

}  // namespace

HybridMethod::HybridMethod(const Kinetics& kinetics, const Plan& plan)
    : Method(kinetics, plan),
      driven_(kinetics.rates().size()),
      moves_(driven_ != 0 || kinetics.reads_time()),
      values_(driven_ + 1),
      changes_(driven_ + 1),
      next_values_(driven_ + 1),
      next_changes_(driven_ + 1),
      error_(driven_ + 1),
      scale_(driven_ + 1),
      triggers_(kinetics.events().size()),
      conditions_(kinetics.conditions().size()) {}

void HybridMethod::prepare() {
    std::ranges::fill(scale_, 0);
    step_ = plan_.sample_time(1) / 10;
    waiting_.clear();
    for (std::size_t i = 0; i < triggers_.size(); ++i) {
        triggers_[i] = kinetics_.events()[i].initially;
    }
    draw_next();
    run_events();
}

void HybridMethod::draw_next() {
    reaction_in_ = boost::random::exponential_distribution<double>()(generator_);
}

bool HybridMethod::go_on(std::uint64_t events, Recorder& recorder) {
    for (; events != 0; --events) {
        if (record_until(time_, recorder)) return true;
        step();
        ++steps_;
    }
    return false;
}

/// One step, what happens at its end included.
void HybridMethod::step() {
    double stop = next_time_;
    for (const Waiting& one : waiting_) stop = std::min(stop, one.time);
    for (std::size_t i = 0; i < driven_; ++i) values_[i] = counts_[kinetics_.rates()[i].species];
    values_[driven_] = 0;
    derive(values_, changes_, time_);
    double sum = 0;
    for (std::size_t i = 0; i < kinetics_.reactions(); ++i) sum += propensity(i);
    check_sum(sum);
    const double duration = integrate_until(stop);
    const bool reaction = is_reaction_due();
    reaction_in_ -= next_values_[driven_];
    // The end itself, not a rounding beside it, so that the sample or the event is found there.
    const double end = time_ + duration;
    time_ = duration == stop - time_ ? stop : end;
    write(next_values_, time_);
    for (std::size_t i = 0; i <= driven_; ++i) {
        scale_[i] = std::max(scale_[i], std::fabs(next_values_[i]));
    }
    if (reaction) happen();
    run_events();
}

/// How long the step is; the counts are those at its end.
double HybridMethod::integrate_until(double stop) {
    double duration = stop - time_;
    if (moves_) {
        duration = std::min(duration, step_);
        while (!try_step(duration)) {
            if (time_ + duration / 4 == time_) {
                fail(fmt::format("has quantities that change without bound at time {}", time_));
            }
            const double shorter = 0.9 * std::pow(error_of_step(), -0.2);
            duration *= std::isfinite(shorter) ? std::clamp(shorter, 0.1, 0.8) : 0.1;
            step_ = duration;
        }
        const double longer = 0.9 * std::pow(std::max(error_of_step(), 1e-10), -0.2);
        step_ = std::max(step_, duration * std::clamp(longer, 0.5, 5.0));
    } else {
        move(duration);
    }
    if (next_values_[driven_] > reaction_in_) duration = time_of_reaction(duration);
    if (conditions_differ()) duration = first_change(duration);
    return duration;
}

bool HybridMethod::try_step(double duration) {
    stepper_.do_step([this](const Values& values, Values& changes,
                            double time) { derive(values, changes, time); },
                     values_, changes_, time_, next_values_, next_changes_, duration, error_);
    write(next_values_, time_ + duration);
    return error_of_step() <= 1;
}

/// Of the tolerance; infinite where something is no number.
double HybridMethod::error_of_step() const {
    double error = 0;
    for (std::size_t i = 0; i <= driven_; ++i) {
        const double size = std::max(std::fabs(values_[i]), std::fabs(next_values_[i]));
        const double allowed =
            i == driven_ ? tolerance_of_integral * std::max(size, 1.0)
                         : tolerance * size + tolerance_of_greatest * scale_[i] +
                               kinetics_.network().species[kinetics_.rates()[i].species].tolerance;
        if (!std::isfinite(next_values_[i]) || !std::isfinite(next_changes_[i])) return infinity;
        error = std::max(error, std::fabs(error_[i]) / allowed);
    }
    return error;
}

/// To the state `duration` after the begin of the step.
void HybridMethod::move(double duration) {
    if (moves_) {
        (void)try_step(duration);
        return;
    }
    next_values_[driven_] = changes_[driven_] * duration;
    write(next_values_, time_ + duration);
}

bool HybridMethod::is_reaction_due() const {
    return next_values_[driven_] >= reaction_in_ * (1 - 1e-9);
}

/// Within a step in which the integral reaches the time of the reaction.
double HybridMethod::time_of_reaction(double duration) {
    if (!moves_) {
        const double found = std::min(reaction_in_ / changes_[driven_], duration);
        move(found);
        return found;
    }
    const auto missing = [this](double at) {
        move(at);
        return next_values_[driven_] - reaction_in_;
    };
    std::uintmax_t rounds = 60;
    const double end = missing(duration);
    const auto [low, high] =
        boost::math::tools::toms748_solve(missing, 0.0, duration, -reaction_in_, end,
                                          boost::math::tools::eps_tolerance<double>(40), rounds);
    move(high);
    return high;
}

/// The first time of a step at which a condition is not what it was, or less than a part 1e-18 of
/// the step behind it.
double HybridMethod::first_change(double duration) {
    double before = 0;
    double after = duration;
    for (int i = 0; i < bisections; ++i) {
        const double middle = before + (after - before) / 2;
        if (time_ + middle == time_ + before || time_ + middle == time_ + after) break;
        move(middle);
        (conditions_differ() ? after : before) = middle;
    }
    move(after);
    return after;
}

void HybridMethod::write(const Values& values, double time) {
    for (std::size_t i = 0; i < driven_; ++i) counts_[kinetics_.rates()[i].species] = values[i];
    counts_[kinetics_.network().time()] = time;
}

/// The changes of the driven quantities, and the sum of the propensities. Negative ones
/// of a trial count as 0: propensities are checked at the begin of each step.
void HybridMethod::derive(const Values& values, Values& changes, double time) {
    write(values, time);
    for (std::size_t i = 0; i < driven_; ++i) {
        changes[i] = kinetics_.rates()[i].value.at(counts_.data());
    }
    double sum = 0;
    for (std::size_t i = 0; i < kinetics_.reactions(); ++i) {
        sum += std::max(kinetics_.propensity(i, counts_.data()), 0.0);
    }
    changes[driven_] = sum;
}

/// A reaction, drawn by its part of the sum of the propensities.
void HybridMethod::happen() {
    double sum = 0;
    for (std::size_t i = 0; i < kinetics_.reactions(); ++i) sum += propensity(i);
    check_sum(sum);
    double target = boost::random::uniform_01<double>()(generator_) * sum;
    draw_next();
    std::size_t chosen = kinetics_.reactions();
    for (std::size_t i = 0; i < kinetics_.reactions(); ++i) {
        const double value = propensity(i);
        if (!(value > 0)) continue;
        chosen = i;
        if (target < value) break;
        target -= value;
    }
    if (chosen != kinetics_.reactions()) fire(chosen);
}

bool HybridMethod::is_true(const CompiledRate& condition) const {
    const double value = condition.at(counts_.data());
    return value != 0 && !std::isnan(value);
}

bool HybridMethod::conditions_differ() const {
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
        if (is_true(kinetics_.conditions()[i]) != conditions_[i]) return true;
    }
    return false;
}

void HybridMethod::update_conditions() {
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
        conditions_[i] = is_true(kinetics_.conditions()[i]);
    }
}

void HybridMethod::update_triggers() {
    for (std::size_t i = 0; i < triggers_.size(); ++i) {
        const bool now = is_true(kinetics_.events()[i].trigger);
        if (now == triggers_[i]) continue;
        triggers_[i] = now;
        if (now) {
            trigger(i);
        } else if (!kinetics_.events()[i].persistent) {
            std::erase_if(waiting_, [i](const Waiting& one) { return one.event == i; });
        }
    }
}

void HybridMethod::trigger(std::size_t event) {
    const CompiledEvent& described = kinetics_.events()[event];
    draw_numbers(described);
    const double delay = described.delay ? described.delay->at(counts_.data()) : 0;
    if (!(delay >= 0)) {
        fail(fmt::format("has a delay of event '{}' at time {} that is no number from 0 on: {}",
                         described.name, time_, delay));
    }
    waiting_.push_back(
        {event, time_ + delay, described.from_trigger ? values_of(event) : Values()});
}

/// Until none is due: events trigger events.
void HybridMethod::run_events() {
    counts_[kinetics_.network().time()] = time_;
    update_triggers();
    for (int i = 0;; ++i) {
        const std::size_t due = next_due();
        if (due == waiting_.size()) return update_conditions();
        const Waiting now = std::move(waiting_[due]);
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(due));
        if (i == events_at_once_max) {
            fail(fmt::format("has more than {} events at time {}, '{}' the last",
                             events_at_once_max, time_, kinetics_.events()[now.event].name));
        }
        execute(now);
        update_triggers();
    }
}

/// Of those that are due, one with the highest priority: of several, any. The number of those that
/// wait: none is due.
std::size_t HybridMethod::next_due() {
    std::vector<std::size_t> best;
    double highest = -infinity;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
        if (waiting_[i].time > time_) continue;
        const auto& described = kinetics_.events()[waiting_[i].event].priority;
        double priority = described ? described->at(counts_.data()) : -infinity;
        if (std::isnan(priority)) priority = -infinity;
        if (priority > highest) best.clear();
        if (priority < highest) continue;
        highest = priority;
        best.push_back(i);
    }
    if (best.empty()) return waiting_.size();
    if (best.size() == 1) return best[0];
    const double part = boost::random::uniform_01<double>()(generator_);
    return best[static_cast<std::size_t>(part * static_cast<double>(best.size()))];
}

/// The random numbers that its expressions read.
void HybridMethod::draw_numbers(const CompiledEvent& event) {
    for (const CompiledDraw& one : event.draws) {
        Values arguments;
        for (const CompiledRate& argument : one.arguments) {
            arguments.push_back(argument.at(counts_.data()));
        }
        double quantile = 0;
        while (quantile == 0) quantile = boost::random::uniform_01<double>()(generator_);
        const double number = number_at(one.distribution, arguments, quantile);
        if (!std::isfinite(number)) {
            fail(fmt::format("has no number of the distribution '{}' in event '{}' at time {}",
                             name_of(one.distribution), event.name, time_));
        }
        counts_[one.place] = number;
    }
}

HybridMethod::Values HybridMethod::values_of(std::size_t event) {
    draw_numbers(kinetics_.events()[event]);
    Values values;
    for (const CompiledSetting& one : kinetics_.events()[event].settings) {
        values.push_back(one.value.at(counts_.data()));
    }
    return values;
}

void HybridMethod::execute(const Waiting& waiting) {
    const CompiledEvent& event = kinetics_.events()[waiting.event];
    Values values = event.from_trigger ? waiting.values : values_of(waiting.event);
    // All are of the state before the event.
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto& factor = event.settings[i].factor;
        if (factor) values[i] *= factor->at(counts_.data());
    }
    for (std::size_t i = 0; i < values.size(); ++i) set(event, event.settings[i], values[i]);
}

void HybridMethod::set(const CompiledEvent& event, const CompiledSetting& setting, double value) {
    const Species& species = kinetics_.network().species[setting.species];
    const double count = std::round(value);
    const bool is_count =
        count >= 0 && count <= count_max && std::fabs(value - count) <= species.rounds_by * count;
    if (!species.real && !is_count) {
        fail(
            fmt::format("has event '{}' set '{}' to {} at time {}, which is no whole number of "
                        "molecules up to {}",
                        event.name, species.name, value, time_, count_max));
    }
    if (!std::isfinite(value)) {
        fail(fmt::format("has event '{}' set '{}' to no finite number at time {}", event.name,
                         species.name, time_));
    }
    counts_[setting.species] = species.real ? value : count;
}

}  // namespace strid::ssa
