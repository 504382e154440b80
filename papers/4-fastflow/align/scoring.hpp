// SPDX-License-Identifier: Apache-2.0
//
// The scoring of alignments: a matrix of parasail's and the costs of gaps. Owns a matrix that it
// made itself. Constant once made; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <parasail.h>

#include "alphabet.hpp"

namespace strid::align {

/// A gap of k residues costs open + k * extend, as in "10-2k" (paper 4, section 1.3.3) and in
/// BLAST. parasail calls open + extend, which the first residue costs, "open".
struct GapCosts {
    int open = 10;
    int extend = 2;

    [[nodiscard]] int first() const noexcept { return open + extend; }
};

class Scoring {
  public:
    /// `matrix` as BLOSUM50 or blosum50. Throws GraphError for one that parasail does not have.
    static Scoring protein(const std::string& matrix, GapCosts gaps);
    /// `match` above 0, `mismatch` the cost of one; N matches nothing.
    static Scoring dna(int match, int mismatch, GapCosts gaps);

    [[nodiscard]] const parasail_matrix_t* matrix() const noexcept { return matrix_; }
    [[nodiscard]] GapCosts gaps() const noexcept { return gaps_; }
    /// "BLOSUM50", "+2/-3".
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] Molecule molecule() const noexcept { return molecule_; }

    /// The scores of a residue beside each other one, to be taken by code_of().
    [[nodiscard]] const int* row_of(char residue) const noexcept {
        return matrix_->matrix + static_cast<long>(matrix_->size) * code_of(residue);
    }
    [[nodiscard]] int code_of(char residue) const noexcept {
        return matrix_->mapper[static_cast<unsigned char>(residue)];
    }
    /// Whether two residues are known to be the same: one that stands for any residue never is.
    [[nodiscard]] bool identical(char a, char b) const noexcept {
        return a == b && a != any_residue(molecule_);
    }
    /// The greatest score of a residue beside any.
    [[nodiscard]] int greatest(char residue) const noexcept;

  private:
    struct Free {
        void operator()(parasail_matrix_t* matrix) const noexcept { parasail_matrix_free(matrix); }
    };
    Scoring() = default;

    std::unique_ptr<parasail_matrix_t, Free> owned_;
    const parasail_matrix_t* matrix_ = nullptr;
    GapCosts gaps_;
    std::string name_;
    Molecule molecule_ = Molecule::protein;
};

/// The matrices for proteins, as users write them.
[[nodiscard]] std::vector<std::string> matrix_names();

}  // namespace strid::align
