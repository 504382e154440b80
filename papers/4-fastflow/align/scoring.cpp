// SPDX-License-Identifier: Apache-2.0
#include "scoring.hpp"

#include <algorithm>
#include <cctype>
#include <new>

#include <fmt/format.h>
#include <parasail/matrix_lookup.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

namespace strid::align {

namespace {

std::string with_case(std::string text, int (*convert)(int)) {
    std::ranges::transform(text, text.begin(), [convert](unsigned char letter) {
        return static_cast<char>(convert(letter));
    });
    return text;
}

}  // namespace

std::vector<std::string> matrix_names() {
    std::vector<std::string> names;
    for (const parasail_matrix_t* const* matrix = parasail_matrices; *matrix != nullptr; ++matrix) {
        const std::string name = with_case((*matrix)->name, std::toupper);
        // parasail has matrices for nucleic acids, too.
        if (name.starts_with("BLOSUM") || name.starts_with("PAM")) names.push_back(name);
    }
    return names;
}

Scoring Scoring::protein(const std::string& matrix, GapCosts gaps) {
    Scoring scoring;
    scoring.name_ = with_case(matrix, std::toupper);
    const std::vector<std::string> names = matrix_names();
    if (std::ranges::find(names, scoring.name_) == names.end()) {
        throw GraphError(fmt::format("--matrix: there is no matrix '{}'{}", matrix,
                                     suggestion(scoring.name_, names)));
    }
    scoring.matrix_ = parasail_matrix_lookup(with_case(matrix, std::tolower).c_str());
    scoring.gaps_ = gaps;
    return scoring;
}

Scoring Scoring::dna(int match, int mismatch, GapCosts gaps) {
    Scoring scoring;
    scoring.owned_.reset(parasail_matrix_create("ACGTN", match, -mismatch));
    if (!scoring.owned_) throw std::bad_alloc();
    const int any = scoring.owned_->mapper[static_cast<unsigned char>('N')];
    parasail_matrix_set_value(scoring.owned_.get(), any, any, -mismatch);
    scoring.matrix_ = scoring.owned_.get();
    scoring.gaps_ = gaps;
    scoring.name_ = fmt::format("+{}/-{}", match, mismatch);
    scoring.molecule_ = Molecule::dna;
    return scoring;
}

int Scoring::greatest(char residue) const noexcept {
    const int* const row = row_of(residue);
    return *std::max_element(row, row + matrix_->size);
}

}  // namespace strid::align
