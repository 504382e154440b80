// SPDX-License-Identifier: Apache-2.0
//
// Implicit tau-leaping (Rathinam, Petzold, Cao and Gillespie 2003) and the trapezoidal one (Cao and
// Petzold 2005) for stiff networks: the propensities at the end of a leap count, too, so that fast
// reactions that balance each other do not limit it. With a weight of 1 only those of the end do:
// means are right, but the variance of fast species is too small. With 1/2 it is right for linear
// rates; of second order. Counts that are not in balance would swing to and fro then, so that the
// first leap of reactions that have come into balance has a weight of 1.
//
// Leaps are bounded as those of TauLeaping, without reactions that balance their reverse (Cao,
// Gillespie and Petzold 2007). The equations are solved by Newton's method on sparse matrices
// (Eigen). One thread at a time.
#pragma once

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <vector>

#include "tau_leaping.hpp"

namespace strid::ssa {

class ImplicitLeaping final : public TauLeaping {
  public:
    /// `weight`: of the propensities at the end of a leap, above 0.
    ImplicitLeaping(const Kinetics& kinetics, const Plan& plan, double weight);

  protected:
    void prepare() override;
    [[nodiscard]] double largest_leap() override;
    [[nodiscard]] bool leap_over(double duration) override;

  private:
    /// A reaction and the propensities by one of the species that it reads.
    struct Slope {
        std::size_t reaction;
        std::size_t species;
        double value;
    };

    void find_reverses();
    [[nodiscard]] bool solve(double duration);
    [[nodiscard]] double newton_step(double duration);
    void find_slopes();
    [[nodiscard]] double at_end(std::size_t reaction) const;

    const double usual_weight_;
    double weight_;                     // of this leap
    std::vector<std::size_t> reverse_;  // of each reaction; itself: it has none
    std::vector<double> drawn_;         // events by the propensities of the begin
    std::vector<double> fixed_;         // counts at the end without the part that is solved for
    std::vector<double> end_;           // counts at the end, and the time
    std::vector<Slope> slopes_;
    Eigen::SparseLU<Eigen::SparseMatrix<double>> solver_;
};

}  // namespace strid::ssa
