// SPDX-License-Identifier: Apache-2.0
#include "tau_leaping.hpp"

#include <algorithm>
#include <cmath>

#include <boost/random/exponential_distribution.hpp>
#include <boost/random/poisson_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <fmt/format.h>

namespace strid::ssa {

namespace {

// The figures of the paper.
constexpr double critical_events = 10;
constexpr double leap_events_min = 10;
constexpr std::uint64_t single_events = 100;
// How much of a count may be replaced in a leap, in epsilons and at most: gains and losses that are
// equal do not change the mean, but beyond a few times the count a leap is unstable.
constexpr double turnover_epsilons = 3;
constexpr double turnover_max = 0.5;

}  // namespace

TauLeaping::TauLeaping(const Kinetics& kinetics, const Plan& plan)
    : DirectMethod(kinetics, plan),
      critical_(kinetics.reactions()),
      balanced_(kinetics.reactions()),
      turnover_part_(std::min(turnover_epsilons * plan.epsilon, turnover_max)),
      orders_(kinetics.species()),
      mean_(kinetics.species()),
      variance_(kinetics.species()),
      turnover_(kinetics.species()),
      middle_(kinetics.reactions()) {
    find_orders();
}

/// A rate that is an expression is taken for one of as many reactants as the species that it reads,
/// or as the reaction has, whichever is more.
void TauLeaping::find_orders() {
    for (std::size_t i = 0; i < kinetics_.reactions(); ++i) {
        const std::vector<Term>& reactants = kinetics_.network().reactions[i].reactants;
        const std::vector<std::size_t> reads = kinetics_.reads(i);
        double order = 0;
        for (const Term& term : reactants) order += static_cast<double>(term.count);
        order = std::max(order, static_cast<double>(reads.size()));
        for (const std::size_t species : reads) {
            const auto term = std::ranges::find(reactants, species, &Term::species);
            const int own = term == reactants.end() ? 1 : static_cast<int>(term->count);
            HighestOrder& highest = orders_[species];
            if (order > highest.order) highest = {order, own};
            if (order == highest.order) highest.own = std::max(highest.own, own);
        }
    }
}

/// g of the paper: how much more, relatively, a propensity changes than the count does. For a
/// propensity in x (x - 1) ... it is the order times the mean of x / (x - m).
double TauLeaping::change_bound(std::size_t species) const {
    const HighestOrder& highest = orders_[species];
    const double count = counts_[species];
    double sum = 0;
    for (int m = 0; m < highest.own; ++m) {
        if (count <= m) return infinity;
        sum += count / (count - m);
    }
    return highest.order / highest.own * sum;
}

void TauLeaping::prepare() {
    DirectMethod::prepare();
    single_events_ = 0;
}

void TauLeaping::find_critical() {
    critical_sum_ = 0;
    for (std::size_t i = 0; i < critical_.size(); ++i) {
        critical_[i] = 0;
        if (!(propensities_[i] > 0)) continue;
        for (const Change& change : kinetics_.changes(i)) {
            const bool uses_up =
                change.by < 0 && std::floor(counts_[change.species] / -change.by) < critical_events;
            if (uses_up) critical_[i] = 1;
        }
        if (critical_[i] != 0) critical_sum_ += propensities_[i];
    }
}

double TauLeaping::largest_leap() {
    std::ranges::fill(mean_, 0);
    std::ranges::fill(variance_, 0);
    std::ranges::fill(turnover_, 0);
    for (std::size_t i = 0; i < critical_.size(); ++i) {
        if (critical_[i] != 0 || balanced_[i] != 0) continue;
        for (const Change& change : kinetics_.changes(i)) {
            mean_[change.species] += change.by * propensities_[i];
            variance_[change.species] += change.by * change.by * propensities_[i];
            turnover_[change.species] += std::fabs(change.by) * propensities_[i];
        }
    }
    double leap = infinity;
    for (std::size_t i = 0; i < orders_.size(); ++i) {
        if (orders_[i].order == 0 || !(variance_[i] > 0)) continue;
        const double change = std::max(plan_.epsilon * counts_[i] / change_bound(i), 1.0);
        leap = std::min(leap, change * change / variance_[i]);
        if (mean_[i] != 0) leap = std::min(leap, change / std::fabs(mean_[i]));
        const double replaced = std::max(turnover_part_ * counts_[i] / change_bound(i), 1.0);
        leap = std::min(leap, replaced / turnover_[i]);
    }
    return leap;
}

std::size_t TauLeaping::draw_critical() {
    boost::random::uniform_01<double> uniform;
    double target = uniform(generator_) * critical_sum_;
    std::size_t last = 0;
    for (std::size_t i = 0; i < critical_.size(); ++i) {
        if (critical_[i] == 0) continue;
        last = i;
        if (target < propensities_[i]) break;
        target -= propensities_[i];
    }
    return last;
}

double TauLeaping::poisson(std::size_t reaction, double expected) {
    if (!(expected > 0)) return 0;
    if (expected > count_max) {
        fail(fmt::format(
            "has {} events of reaction '{}' in a leap at time {}: more than can be counted",
            expected, kinetics_.network().reactions[reaction].name, time_));
    }
    boost::random::poisson_distribution<std::int64_t, double> distribution(expected);
    return static_cast<double>(distribution(generator_));
}

void TauLeaping::happen(std::size_t reaction, double times) {
    for (const Change& change : kinetics_.changes(reaction)) {
        counts_[change.species] += change.by * times;
    }
}

bool TauLeaping::is_below_0() const {
    return std::ranges::any_of(counts_, [](double count) { return count < 0; });
}

/// Two halves.
bool TauLeaping::leap_over(double duration) {
    for (std::size_t i = 0; i < critical_.size(); ++i) {
        if (critical_[i] == 0) happen(i, poisson(i, propensities_[i] * duration / 2));
    }
    if (is_below_0()) return false;
    // All are read before one happens.
    for (std::size_t i = 0; i < critical_.size(); ++i) {
        if (critical_[i] == 0) middle_[i] = 2 * propensity(i) - propensities_[i];
    }
    for (std::size_t i = 0; i < critical_.size(); ++i) {
        if (critical_[i] == 0) happen(i, poisson(i, middle_[i] * duration / 2));
    }
    return !is_below_0();
}

/// False where a count would be below 0: the counts are as they were.
bool TauLeaping::try_leap(double duration, bool critical_event) {
    before_ = counts_;
    bool possible = leap_over(duration);
    if (possible && critical_event) {
        happen(draw_critical(), 1);
        possible = !is_below_0();
    }
    if (!possible) counts_.swap(before_);
    return possible;
}

/// True at the end of the trajectory.
bool TauLeaping::leap(Recorder& recorder) {
    if (record_until(time_, recorder)) return true;
    DirectMethod::prepare();
    const double sum = propensities_.sum();
    check_sum(sum);
    if (!(sum > 0)) {
        record_rest(recorder);
        return true;
    }
    find_critical();
    boost::random::exponential_distribution<double> exponential;
    for (double leap = largest_leap();;) {
        if (leap < leap_events_min / sum) {
            single_events_ = single_events;
            return false;
        }
        const double critical =
            critical_sum_ > 0 ? exponential(generator_) / critical_sum_ : infinity;
        const double end = time_ + std::min(leap, critical);
        const bool cut_short = end >= next_time_;
        const double duration = cut_short ? next_time_ - time_ : std::min(leap, critical);
        if (!try_leap(duration, critical <= leap && !cut_short)) {
            leap = duration / 2;
            continue;
        }
        time_ = cut_short ? next_time_ : end;
        ++steps_;
        return false;
    }
}

bool TauLeaping::go_on(std::uint64_t events, Recorder& recorder) {
    for (const std::uint64_t end = steps_ + events; steps_ < end;) {
        if (single_events_ == 0) {
            if (leap(recorder)) return true;
            continue;
        }
        const std::uint64_t now = std::min(single_events_, end - steps_);
        if (DirectMethod::go_on(now, recorder)) return true;
        single_events_ -= now;
    }
    return false;
}

}  // namespace strid::ssa
