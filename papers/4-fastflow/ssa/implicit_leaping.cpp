// SPDX-License-Identifier: Apache-2.0
#include "implicit_leaping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace strid::ssa {

namespace {

// How much two reverse reactions that are in balance differ at most (Cao and others 2007).
constexpr double balance = 0.05;
constexpr int newton_steps_max = 50;
// Of a count: the events are rounded to whole numbers.
constexpr double newton_error = 1e-3;
constexpr double newton_error_relative = 1e-12;

}  // namespace

ImplicitLeaping::ImplicitLeaping(const Kinetics& kinetics, const Plan& plan, double weight)
    : TauLeaping(kinetics, plan),
      usual_weight_(weight),
      weight_(weight),
      reverse_(kinetics.reactions()),
      drawn_(kinetics.reactions()),
      fixed_(kinetics.species()) {
    turnover_part_ = std::numeric_limits<double>::infinity();  // stable at any length
    find_reverses();
    for (std::size_t i = 0; i < kinetics.reactions(); ++i) {
        for (const std::size_t species : kinetics.reads(i)) slopes_.push_back({i, species, 0});
    }
}

void ImplicitLeaping::find_reverses() {
    using Key = std::vector<std::pair<std::uint32_t, double>>;
    std::map<Key, std::size_t> known;
    for (std::size_t i = 0; i < reverse_.size(); ++i) {
        Key forward;
        Key backward;
        for (const Change& change : kinetics_.changes(i)) {
            forward.emplace_back(change.species, change.by);
            backward.emplace_back(change.species, -change.by);
        }
        reverse_[i] = i;
        const auto found = known.find(backward);
        if (found != known.end() && !forward.empty()) {
            reverse_[i] = found->second;
            reverse_[found->second] = i;
            known.erase(found);
        } else {
            known.emplace(std::move(forward), i);
        }
    }
}

void ImplicitLeaping::prepare() {
    TauLeaping::prepare();
    std::ranges::fill(balanced_, 0);
}

double ImplicitLeaping::largest_leap() {
    weight_ = usual_weight_;
    for (std::size_t i = 0; i < reverse_.size(); ++i) {
        const double there = propensities_[i];
        const double back = propensities_[reverse_[i]];
        const bool is_balanced = reverse_[i] != i && critical_[i] == 0 &&
                                 critical_[reverse_[i]] == 0 &&
                                 std::fabs(there - back) <= balance * std::min(there, back);
        if (is_balanced && balanced_[i] == 0) weight_ = 1;
        balanced_[i] = is_balanced ? 1 : 0;
    }
    return TauLeaping::largest_leap();
}

/// The propensity at the end as it is solved for. Not checked: an iterate may be anything.
double ImplicitLeaping::at_end(std::size_t reaction) const {
    return kinetics_.propensity(reaction, end_.data());
}

void ImplicitLeaping::find_slopes() {
    for (Slope& slope : slopes_) {
        if (critical_[slope.reaction] != 0) continue;
        double& count = end_[slope.species];
        const double before = count;
        const double value = at_end(slope.reaction);
        count += 1e-6 * std::max(std::fabs(before), 1.0);
        slope.value = (at_end(slope.reaction) - value) / (count - before);
        count = before;
    }
}

/// The greatest error that the step has left, as a part of the one allowed; NaN: there is no step.
double ImplicitLeaping::newton_step(double duration) {
    const auto size = static_cast<Eigen::Index>(fixed_.size());
    const double part = weight_ * duration;
    Eigen::VectorXd missing(size);
    for (Eigen::Index i = 0; i < size; ++i) {
        const auto at = static_cast<std::size_t>(i);
        missing[i] = fixed_[at] - end_[at];
    }
    for (std::size_t i = 0; i < reverse_.size(); ++i) {
        if (critical_[i] != 0) continue;
        const double events = part * at_end(i);
        for (const Change& change : kinetics_.changes(i)) {
            missing[static_cast<Eigen::Index>(change.species)] += change.by * events;
        }
    }
    find_slopes();
    std::vector<Eigen::Triplet<double>> entries;
    for (Eigen::Index i = 0; i < size; ++i) {
        entries.emplace_back(static_cast<int>(i), static_cast<int>(i), 1.0);
    }
    for (const Slope& slope : slopes_) {
        if (critical_[slope.reaction] != 0) continue;
        for (const Change& change : kinetics_.changes(slope.reaction)) {
            entries.emplace_back(static_cast<int>(change.species), static_cast<int>(slope.species),
                                 -part * change.by * slope.value);
        }
    }
    Eigen::SparseMatrix<double> matrix(size, size);
    matrix.setFromTriplets(entries.begin(), entries.end());
    solver_.compute(matrix);
    if (solver_.info() != Eigen::Success) return std::numeric_limits<double>::quiet_NaN();
    const Eigen::VectorXd step = solver_.solve(missing);
    double error = 0;
    for (Eigen::Index i = 0; i < size; ++i) {
        double& count = end_[static_cast<std::size_t>(i)];
        count += step[i];
        const double allowed = newton_error + newton_error_relative * std::fabs(count);
        const double part_of_it = std::fabs(step[i]) / allowed;
        if (!(part_of_it <= error)) error = part_of_it;  // a NaN, too
    }
    return error;
}

/// end_ at the end of the leap. False where it is not found.
bool ImplicitLeaping::solve(double duration) {
    for (int i = 0; i < newton_steps_max; ++i) {
        const double error = newton_step(duration);
        if (std::isnan(error)) return false;
        if (error <= 1) return true;
    }
    return false;
}

bool ImplicitLeaping::leap_over(double duration) {
    for (std::size_t i = 0; i < fixed_.size(); ++i) fixed_[i] = counts_[i];
    for (std::size_t i = 0; i < reverse_.size(); ++i) {
        if (critical_[i] != 0) continue;
        const double expected = propensities_[i] * duration;
        drawn_[i] = poisson(i, expected) - weight_ * expected;
        for (const Change& change : kinetics_.changes(i)) {
            fixed_[change.species] += change.by * drawn_[i];
        }
    }
    end_ = counts_;
    if (!solve(duration)) return false;
    for (std::size_t i = 0; i < reverse_.size(); ++i) {
        if (critical_[i] != 0) continue;
        happen(i, std::round(drawn_[i] + weight_ * duration * at_end(i)));
    }
    return !is_below_0();
}

}  // namespace strid::ssa
