// SPDX-License-Identifier: Apache-2.0
//
// A matrix of scores from a file in the format of NCBI: lines that begin with # are comments, the
// first other line names the columns by a letter each, and each line after it is the letter of a
// row and its scores. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "alphabet.hpp"

namespace strid::align {

struct MatrixFile {
    std::string letters;      ///< Upper case, each once; '*' may be among them.
    std::vector<int> scores;  ///< A row for each letter, in their order; symmetric.
};

/// Throws InputOutputError, which names the line, for what is no such matrix, for one that is not
/// symmetric, and where letters are no residues of the molecule; of nucleic acids a letter needs
/// its complement (for the other strand), and A, C, G and T have to be there.
[[nodiscard]] MatrixFile read_matrix_file(const std::string& path, Molecule molecule);

}  // namespace strid::align
