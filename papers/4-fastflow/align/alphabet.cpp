// SPDX-License-Identifier: Apache-2.0
#include "alphabet.hpp"

#include <algorithm>

namespace strid::align {

namespace {

// Letters of residues; those without a row in the matrix, as U (selenocysteine), O (pyrrolysine)
// and J (leucine or isoleucine) in most of them, are read as X.
constexpr std::string_view protein_residues = "ARNDCQEGHILKMFPSTWYVBZXUOJ";
constexpr std::string_view complements = "TGCAYRSWMKVHDBN";  // of iupac_bases

}  // namespace

unsigned bases_of(char code) noexcept {
    constexpr unsigned char sets[] = {1, 2, 4, 8, 5, 10, 6, 9, 12, 3, 14, 13, 11, 7, 15};
    const std::size_t at = iupac_bases.find(code);
    return at == std::string_view::npos ? 0 : sets[at];
}

Alphabet::Alphabet(Molecule molecule, std::string_view letters, Unknown unknown)
    : molecule_(molecule), has_any_(letters.find(any_residue(molecule)) != std::string_view::npos) {
    const auto add = [&](char letter, std::uint8_t code) {
        codes_[static_cast<unsigned char>(letter)] = code;
        if (letter >= 'A' && letter <= 'Z') codes_[static_cast<unsigned char>(letter) + 32U] = code;
    };
    const auto replaced =
        static_cast<std::uint8_t>(static_cast<std::uint8_t>(any_residue(molecule)) | replaces);
    codes_.fill(unknown == Unknown::any && has_any_ ? replaced : rejects);
    const bool protein = molecule == Molecule::protein;
    if (has_any_) {
        for (const char letter : protein ? protein_residues : iupac_bases) add(letter, replaced);
    }
    for (const char letter : letters) add(letter, static_cast<std::uint8_t>(letter));
    if (!protein) add('U', 'T');
    for (const char letter : {' ', '\t', '\r', '\v', '\f'}) add(letter, space);
}

Alphabet::Encoded Alphabet::encode(std::string_view text, std::string& out) const {
    Encoded encoded;
    const std::size_t before = out.size();
    out.resize(before + text.size());
    char* to = out.data() + before;
    for (const char& letter : text) {
        const std::uint8_t code = codes_[static_cast<unsigned char>(letter)];
        if (code > space && code < replaces) [[likely]] {
            *to++ = static_cast<char>(code);
        } else if (code >= replaces) {
            *to++ = any_residue(molecule_);
            ++encoded.replaced;
        } else if (code == rejects) {
            encoded.rejected = &letter;
            break;
        }
    }
    out.resize(static_cast<std::size_t>(to - out.data()));
    return encoded;
}

std::string reverse_complement(std::string_view dna) {
    std::string other(dna.rbegin(), dna.rend());
    std::ranges::transform(other, other.begin(), [](char letter) {
        const std::size_t at = iupac_bases.find(letter);
        return at == std::string_view::npos ? letter : complements[at];
    });
    return other;
}

}  // namespace strid::align
