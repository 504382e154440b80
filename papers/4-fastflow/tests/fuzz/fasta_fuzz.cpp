// SPDX-License-Identifier: Apache-2.0
//
// Sequences of a FASTA file. The first byte chooses the alphabet. Invariants: sequences do not
// depend on the size of the batches that they are read in, and have residues of the alphabet alone.
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>

#include "fasta_reader.hpp"
#include "tests/support/fuzzing.hpp"

namespace strid::align {
namespace {

using Sequences = std::vector<std::pair<std::string, std::string>>;

Sequences read_all(const fuzz::MemoryFile& file, const Alphabet& alphabet, std::size_t at_once) {
    static const std::atomic<bool> never{false};
    FastaReader reader(file.path(), alphabet, never);
    Sequences all;
    std::uint64_t residues = 0;
    for (SequenceBatch batch; reader.read(batch, at_once);) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            all.emplace_back(batch.header(i), batch.residues(i));
            residues += batch.residues(i).size();
        }
    }
    fuzz::require(reader.sequences() == all.size() && reader.residues() == residues);
    return all;
}

void check(std::uint8_t choice, std::string_view text) {
    const bool is_protein = (choice & 1) != 0;
    const Alphabet alphabet(is_protein ? Molecule::protein : Molecule::dna,
                            (choice & 2) != 0 ? Unknown::any : Unknown::reject);
    const std::string_view letters = is_protein ? "ARNDCQEGHILKMFPSTWYVBZX*" : "ACGTN";
    const fuzz::MemoryFile file(text);
    const Sequences all = read_all(file, alphabet, std::size_t{1} << 20);
    fuzz::require(all == read_all(file, alphabet, 1));
    for (const auto& [header, residues] : all) {
        fuzz::require(!residues.empty());
        fuzz::require(residues.find_first_not_of(letters) == std::string::npos);
    }
}

}  // namespace
}  // namespace strid::align

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        strid::align::check(data[0], strid::fuzz::text_of(data + 1, size - 1));
    } catch (const strid::InputOutputError& error) {
        strid::fuzz::require(error.what()[0] != '\0');
    }
    return 0;
}
