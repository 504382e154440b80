// SPDX-License-Identifier: Apache-2.0
#include "alphabet.hpp"

#include <algorithm>

namespace strid::align {

namespace {

constexpr std::string_view protein_residues = "ARNDCQEGHILKMFPSTWYVBZX*";
// Selenocysteine, pyrrolysine, and "leucine or isoleucine" have no row in any matrix.
constexpr std::string_view protein_others = "UOJ";
constexpr std::string_view dna_residues = "ACGTN";
constexpr std::string_view dna_ambiguities = "RYSWKMBDHV";

}  // namespace

Alphabet::Alphabet(Molecule molecule, Unknown unknown) : molecule_(molecule) {
    const auto add = [&](char letter, std::uint8_t code) {
        codes_[static_cast<unsigned char>(letter)] = code;
        if (letter >= 'A' && letter <= 'Z') codes_[static_cast<unsigned char>(letter) + 32U] = code;
    };
    const auto replaced =
        static_cast<std::uint8_t>(static_cast<std::uint8_t>(any_residue(molecule)) | replaces);
    codes_.fill(unknown == Unknown::any ? replaced : rejects);
    const bool protein = molecule == Molecule::protein;
    for (const char letter : protein ? protein_residues : dna_residues) {
        add(letter, static_cast<std::uint8_t>(letter));
    }
    for (const char letter : protein ? protein_others : dna_ambiguities) add(letter, replaced);
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
        switch (letter) {
            case 'A':
                return 'T';
            case 'C':
                return 'G';
            case 'G':
                return 'C';
            case 'T':
                return 'A';
            default:
                return letter;
        }
    });
    return other;
}

}  // namespace strid::align
