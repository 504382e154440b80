// SPDX-License-Identifier: Apache-2.0
//
// The letters of sequences: which a file may have, and which letter of the scoring matrix each of
// them stands for. Plain values; any thread.
//
// Invariant: what encode() leaves are upper case letters that the matrix has a row for.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace strid::align {

enum class Molecule : std::uint8_t { protein, dna };

/// The codes of nucleic acids (NC-IUB 1984): the bases, those that stand for some of them, and N.
inline constexpr std::string_view iupac_bases = "ACGTRYSWKMBDHVN";

/// The bases that a code of iupac_bases stands for, as a set: 1 is A, 2 is C, 4 is G, 8 is T; 0 for
/// another letter.
[[nodiscard]] unsigned bases_of(char code) noexcept;

/// The letter of a residue that is not known: X of proteins, N of nucleic acids.
[[nodiscard]] constexpr char any_residue(Molecule molecule) noexcept {
    return molecule == Molecule::protein ? 'X' : 'N';
}

/// The treatment of a letter that is no residue.
enum class Unknown : std::uint8_t {
    reject,
    any  ///< It is read as "any residue": X of proteins, N of nucleic acids.
};

class Alphabet {
  public:
    /// `letters` are those that the matrix has rows for. Others that the molecule has are read as
    /// "any residue" where that has a row.
    Alphabet(Molecule molecule, std::string_view letters, Unknown unknown = Unknown::reject);

    /// The codes of the residues of a part of a line, and the letters that were found in it.
    struct Encoded {
        std::size_t replaced = 0;        ///< Residues that are now "any residue".
        const char* rejected = nullptr;  ///< The first letter that is none; stops there.
    };
    /// Adds the residues of `text` to `out`; spaces are left out.
    Encoded encode(std::string_view text, std::string& out) const;

    [[nodiscard]] Molecule molecule() const noexcept { return molecule_; }
    /// Whether the matrix has a row for "any residue".
    [[nodiscard]] bool has_any() const noexcept { return has_any_; }

  private:
    // A letter; above it bit 7 where it stands for another residue; or one of these.
    static constexpr std::uint8_t rejects = 0;
    static constexpr std::uint8_t space = 1;
    static constexpr std::uint8_t replaces = 0x80;

    Molecule molecule_;
    bool has_any_;
    std::array<std::uint8_t, 256> codes_{};
};

/// The other strand, read in its own direction.
[[nodiscard]] std::string reverse_complement(std::string_view dna);

}  // namespace strid::align
