// SPDX-License-Identifier: Apache-2.0
//
// Sequences of a FASTA or FASTQ file. The first byte chooses the alphabet. Invariants: sequences do
// not depend on the size of the batches that they are read in, have residues of the alphabet alone,
// and of FASTQ a quality for each.
#include <atomic>
#include <string>
#include <vector>

#include <strid/base/error.hpp>

#include "sequence_reader.hpp"
#include "tests/support/fuzzing.hpp"

namespace strid::align {
namespace {

struct Sequence {
    std::string header;
    std::string residues;
    std::string qualities;
    bool operator==(const Sequence&) const = default;
};
using Sequences = std::vector<Sequence>;

Sequences read_all(const fuzz::MemoryFile& file, const Alphabet& alphabet, std::size_t at_once) {
    static const std::atomic<bool> never{false};
    SequenceReader reader(file.path(), alphabet, never);
    Sequences all;
    std::uint64_t residues = 0;
    for (SequenceBatch batch; reader.read(batch, at_once);) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            all.push_back({std::string(batch.header(i)), std::string(batch.residues(i)),
                           std::string(batch.qualities(i))});
            residues += batch.residues(i).size();
        }
    }
    fuzz::require(reader.sequences() == all.size() && reader.residues() == residues);
    return all;
}

void check(std::uint8_t choice, std::string_view text) {
    const bool is_protein = (choice & 1) != 0;
    const std::string_view letters = is_protein ? "ARNDCQEGHILKMFPSTWYVBZX*" : iupac_bases;
    const Alphabet alphabet(is_protein ? Molecule::protein : Molecule::dna, letters,
                            (choice & 2) != 0 ? Unknown::any : Unknown::reject);
    const fuzz::MemoryFile file(text);
    const Sequences all = read_all(file, alphabet, std::size_t{1} << 20);
    fuzz::require(all == read_all(file, alphabet, 1));
    for (const Sequence& each : all) {
        fuzz::require(!each.residues.empty());
        fuzz::require(each.residues.find_first_not_of(letters) == std::string::npos);
        fuzz::require(each.qualities.empty() || each.qualities.size() == each.residues.size());
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
