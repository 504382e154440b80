// SPDX-License-Identifier: Apache-2.0
//
// The letters of sequences: which a file may have, and which letter of the scoring matrix each of
// them stands for. Plain values; any thread.
//
// Invariant: what encode() leaves are upper case letters that the matrices have a row for: of
// proteins ARNDCQEGHILKMFPSTWYVBZX*, of nucleic acids ACGTN.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace strid::align {

enum class Molecule : std::uint8_t { protein, dna };

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
    explicit Alphabet(Molecule molecule, Unknown unknown = Unknown::reject);

    /// The codes of the residues of a part of a line, and the letters that were found in it.
    struct Encoded {
        std::size_t replaced = 0;        ///< Residues that are now "any residue".
        const char* rejected = nullptr;  ///< The first letter that is none; stops there.
    };
    /// Adds the residues of `text` to `out`; spaces are left out.
    Encoded encode(std::string_view text, std::string& out) const;

    [[nodiscard]] Molecule molecule() const noexcept { return molecule_; }

  private:
    // A letter; above it bit 7 where it stands for another residue; or one of these.
    static constexpr std::uint8_t rejects = 0;
    static constexpr std::uint8_t space = 1;
    static constexpr std::uint8_t replaces = 0x80;

    Molecule molecule_;
    std::array<std::uint8_t, 256> codes_{};
};

/// The other strand, read in its own direction.
[[nodiscard]] std::string reverse_complement(std::string_view dna);

}  // namespace strid::align
