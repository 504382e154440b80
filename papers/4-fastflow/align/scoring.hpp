// SPDX-License-Identifier: Apache-2.0
//
// The scoring of alignments: which ends they have, a matrix of parasail's or of a file, and the
// costs of gaps. Owns a matrix that it made itself. Constant once made; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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

/// Which parts of a pair are aligned.
enum class Mode : std::uint8_t {
    local,       ///< Those that are worth most (Smith and Waterman).
    global,      ///< Both sequences whole (Needleman and Wunsch).
    semi_global  ///< The query whole; the ends of the target are free.
};

class Scoring {
  public:
    /// `matrix` as BLOSUM50 or blosum50. Throws GraphError for one that parasail does not have.
    static Scoring protein(const std::string& matrix, GapCosts gaps);
    /// `match` above 0, `mismatch` the cost of one; N matches nothing. Two other codes are worth
    /// the mean of the bases that they stand for, each with each, rounded to the nearest number
    /// (a half away from 0).
    static Scoring dna(int match, int mismatch, GapCosts gaps);
    /// The matrix of a file (matrix_file.hpp). Throws InputOutputError.
    static Scoring file(const std::string& path, Molecule molecule, GapCosts gaps);

    void set_mode(Mode mode) noexcept { mode_ = mode; }
    [[nodiscard]] Mode mode() const noexcept { return mode_; }

    [[nodiscard]] const parasail_matrix_t* matrix() const noexcept { return matrix_; }
    [[nodiscard]] GapCosts gaps() const noexcept { return gaps_; }
    /// "BLOSUM50", "+2/-3", the name of a file.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] Molecule molecule() const noexcept { return molecule_; }

    /// The scores of a residue beside each other one, to be taken by code_of().
    [[nodiscard]] const int* row_of(char residue) const noexcept {
        return matrix_->matrix + static_cast<long>(matrix_->size) * code_of(residue);
    }
    [[nodiscard]] int code_of(char residue) const noexcept {
        return matrix_->mapper[static_cast<unsigned char>(residue)];
    }
    /// Upper case, those of the matrix.
    [[nodiscard]] const std::string& letters() const noexcept { return letters_; }
    /// Whether two residues are known to be the same: one that stands for any residue never is,
    /// nor is a code for some of the bases.
    [[nodiscard]] bool identical(char a, char b) const noexcept {
        if (a != b) return false;
        if (molecule_ == Molecule::protein) return a != any_residue(molecule_);
        return a == 'A' || a == 'C' || a == 'G' || a == 'T';
    }
    /// The greatest score of a residue beside any.
    [[nodiscard]] int greatest(char residue) const noexcept;
    /// The greatest number that is a score of two residues, or the cost of one.
    [[nodiscard]] int magnitude() const noexcept { return magnitude_; }

  private:
    struct Free {
        void operator()(parasail_matrix_t* matrix) const noexcept { parasail_matrix_free(matrix); }
    };
    Scoring() = default;
    void make_matrix(std::string_view letters);
    void set(char a, char b, int score);

    std::unique_ptr<parasail_matrix_t, Free> owned_;
    const parasail_matrix_t* matrix_ = nullptr;
    GapCosts gaps_;
    std::string name_;
    std::string letters_;
    int magnitude_ = 0;
    Mode mode_ = Mode::local;
    Molecule molecule_ = Molecule::protein;
};

/// The matrices for proteins, as users write them.
[[nodiscard]] std::vector<std::string> matrix_names();
/// Whether it is one of them, in upper or lower case.
[[nodiscard]] bool has_matrix(const std::string& name);

}  // namespace strid::align
