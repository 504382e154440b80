// SPDX-License-Identifier: Apache-2.0
#include "scoring.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <new>

#include <fmt/format.h>
#include <parasail/matrix_lookup.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "matrix_file.hpp"

namespace strid::align {

namespace {

std::string with_case(std::string text, int (*convert)(int)) {
    std::ranges::transform(text, text.begin(), [convert](unsigned char letter) {
        return static_cast<char>(convert(letter));
    });
    return text;
}

// Of two codes of bases: the mean over the bases that they stand for.
int mean_score(char a, char b, int match, int mismatch) {
    // Nothing is known of N, so that a run of it, as between the parts of a genome, is no hit.
    if (a == 'N' || b == 'N') return -mismatch;
    int sum = 0;
    int pairs = 0;
    for (unsigned i = 0; i < 4; ++i) {
        for (unsigned j = 0; j < 4; ++j) {
            if ((bases_of(a) >> i & 1U) == 0 || (bases_of(b) >> j & 1U) == 0) continue;
            sum += i == j ? match : -mismatch;
            ++pairs;
        }
    }
    return static_cast<int>(std::lround(static_cast<double>(sum) / pairs));
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

bool has_matrix(const std::string& name) {
    const std::vector<std::string> names = matrix_names();
    return std::ranges::find(names, with_case(name, std::toupper)) != names.end();
}

Scoring Scoring::protein(const std::string& matrix, GapCosts gaps) {
    Scoring scoring;
    scoring.name_ = with_case(matrix, std::toupper);
    if (!has_matrix(matrix)) {
        throw GraphError(
            fmt::format("--matrix: there is no matrix '{}', and no file of this name{}", matrix,
                        suggestion(scoring.name_, matrix_names())));
    }
    scoring.matrix_ = parasail_matrix_lookup(with_case(matrix, std::tolower).c_str());
    scoring.gaps_ = gaps;
    scoring.letters_ = "ARNDCQEGHILKMFPSTWYVBZX*";
    scoring.magnitude_ = std::max(scoring.matrix_->max, -scoring.matrix_->min);
    return scoring;
}

Scoring Scoring::dna(int match, int mismatch, GapCosts gaps) {
    Scoring scoring;
    scoring.gaps_ = gaps;
    scoring.name_ = fmt::format("+{}/-{}", match, mismatch);
    scoring.molecule_ = Molecule::dna;
    scoring.make_matrix(iupac_bases);
    for (const char a : iupac_bases) {
        for (const char b : iupac_bases) scoring.set(a, b, mean_score(a, b, match, mismatch));
    }
    return scoring;
}

Scoring Scoring::file(const std::string& path, Molecule molecule, GapCosts gaps) {
    const MatrixFile file = read_matrix_file(path, molecule);
    Scoring scoring;
    scoring.gaps_ = gaps;
    scoring.name_ = path;
    scoring.molecule_ = molecule;
    scoring.make_matrix(file.letters);
    const std::size_t size = file.letters.size();
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) {
            scoring.set(file.letters[i], file.letters[j], file.scores[i * size + j]);
        }
    }
    return scoring;
}

// parasail has a row for '*' in every matrix.
void Scoring::make_matrix(std::string_view letters) {
    letters_ = letters;
    std::string rows = letters_;
    std::erase(rows, '*');
    owned_.reset(parasail_matrix_create(rows.c_str(), 0, 0));
    if (!owned_) throw std::bad_alloc();
    matrix_ = owned_.get();
}

void Scoring::set(char a, char b, int score) {
    parasail_matrix_set_value(owned_.get(), code_of(a), code_of(b), score);
    magnitude_ = std::max(magnitude_, std::abs(score));
}

int Scoring::greatest(char residue) const noexcept {
    const int* const row = row_of(residue);
    return *std::max_element(row, row + matrix_->size);
}

}  // namespace strid::align
