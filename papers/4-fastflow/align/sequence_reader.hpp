// SPDX-License-Identifier: Apache-2.0
//
// Sequences of a FASTA or FASTQ file (the first letter says which), which may be compressed, a pipe
// or standard input, in batches that hold about as many residues each. Owns the input and a buffer
// of it. One thread at a time.
//
// Invariant: a batch holds whole sequences, in the order of the file, each with a residue at least
// (one without is counted and passed over); a file that is not FASTA or FASTQ to its last line is
// an error, never a short database. Of the file, one buffer and the batch that is being filled are
// in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/byte_reader.hpp>

#include "alphabet.hpp"

namespace strid::align {

/// Some sequences after each other.
class SequenceBatch {
  public:
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    /// The line of the file after '>' or '@'.
    [[nodiscard]] std::string_view header(std::size_t i) const noexcept {
        return std::string_view(text_).substr(entries_[i].begin, entries_[i].header_size);
    }
    [[nodiscard]] std::string_view residues(std::size_t i) const noexcept {
        const Entry& entry = entries_[i];
        return std::string_view(text_).substr(entry.begin + entry.header_size, entry.residues_size);
    }
    /// Of FASTQ, a letter for each residue; empty of FASTA.
    [[nodiscard]] std::string_view qualities(std::size_t i) const noexcept {
        const Entry& entry = entries_[i];
        return std::string_view(text_).substr(entry.begin + entry.header_size + entry.residues_size,
                                              entry.qualities_size);
    }
    /// The number of the first sequence in the file.
    [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
    [[nodiscard]] std::size_t residues() const noexcept { return residues_; }

  private:
    friend class SequenceReader;
    struct Entry {
        std::size_t begin;
        std::size_t header_size;
        std::size_t residues_size;
        std::size_t qualities_size;
    };
    std::string text_;  // of each entry its header, its residues, its qualities
    std::vector<Entry> entries_;
    std::uint64_t first_ = 0;
    std::size_t residues_ = 0;
};

class SequenceReader {
  public:
    /// Throws InputOutputError. Gives up waiting for a pipe, by Interrupted, when `interrupted` is
    /// set, which the reader borrows.
    SequenceReader(std::string path, const Alphabet& alphabet,
                   const std::atomic<bool>& interrupted);

    /// The next sequences, `residues` of them or a few more; false: there are no more. Throws
    /// InputOutputError, which names the line, for what is neither FASTA nor FASTQ, for FASTQ where
    /// the alphabet is that of proteins, and for a file without a sequence.
    [[nodiscard]] bool read(SequenceBatch& batch, std::size_t residues);

    [[nodiscard]] std::uint64_t sequences() const noexcept { return sequences_; }
    [[nodiscard]] std::uint64_t residues() const noexcept { return residues_; }
    /// Residues that were read as "any residue", since the matrices have no row for them.
    [[nodiscard]] std::uint64_t replaced() const noexcept { return replaced_; }
    /// Sequences without residues, which were passed over, and the line of the first.
    [[nodiscard]] std::uint64_t empty() const noexcept { return empty_; }
    [[nodiscard]] std::uint64_t first_empty_line() const noexcept { return first_empty_line_; }
    /// Of the file as it is stored.
    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return input_.bytes_read(); }
    [[nodiscard]] std::uint64_t size_bytes() const noexcept { return input_.size_bytes(); }

  private:
    enum class Form : std::uint8_t { unknown, fasta, fastq };
    enum class Place : std::uint8_t { line_begin, in_header, in_residues, in_plus, in_qualities };

    [[nodiscard]] bool fill();
    [[nodiscard]] bool begins_sequence();
    [[nodiscard]] static bool is_full(const SequenceBatch& batch, std::size_t residues) noexcept;
    void begin_sequence(SequenceBatch& batch);
    void take(SequenceBatch& batch, std::string_view part, bool ends);
    void take_header(SequenceBatch& batch, std::string_view part, bool ends);
    void take_residues(SequenceBatch& batch, std::string_view part);
    void take_qualities(SequenceBatch& batch, std::string_view part);
    void end_line(SequenceBatch& batch);
    void end_file(SequenceBatch& batch);
    void end_sequence(SequenceBatch& batch);
    [[noreturn]] void fail(std::uint64_t line, const std::string& what) const;

    const std::string path_;
    const Alphabet& alphabet_;
    const std::atomic<bool>& interrupted_;
    ByteReader input_;
    std::vector<char> buffer_;
    std::string_view rest_;  // of the buffer
    bool began_ = false;
    Form form_ = Form::unknown;
    Place place_ = Place::line_begin;
    bool in_sequence_ = false;
    bool has_plus_ = false;  // of FASTQ: qualities follow
    std::uint64_t line_ = 1;
    std::uint64_t header_line_ = 0;
    std::uint64_t sequences_ = 0;
    std::uint64_t residues_ = 0;
    std::uint64_t replaced_ = 0;
    std::uint64_t empty_ = 0;
    std::uint64_t first_empty_line_ = 0;
};

}  // namespace strid::align
