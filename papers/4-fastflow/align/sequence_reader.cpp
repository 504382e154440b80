// SPDX-License-Identifier: Apache-2.0
#include "sequence_reader.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::align {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{256} << 10U;
constexpr int wait_ms = 100;
// parasail counts residues by int; twice as many are still one.
constexpr std::size_t residues_max = std::size_t{1} << 30U;
// Headers count as well, so that a file of headers does not fill the memory.
constexpr std::size_t header_bytes_max = std::size_t{1} << 20U;

/// A letter for a message.
std::string shown(char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte > ' ' && byte < 0x7f) return fmt::format("'{}'", letter);
    return fmt::format("the byte 0x{:02x}", byte);
}

}  // namespace

SequenceReader::SequenceReader(std::string path, const Alphabet& alphabet,
                               const std::atomic<bool>& interrupted)
    : path_(std::move(path)),
      alphabet_(alphabet),
      interrupted_(interrupted),
      input_(path_),
      buffer_(buffer_bytes) {}

void SequenceReader::fail(std::uint64_t line, const std::string& what) const {
    throw InputOutputError(
        fmt::format("{}:{}: {}", path_ == "-" ? "standard input" : path_, line, what));
}

bool SequenceReader::fill() {
    // Some editors mark UTF-8 by these bytes, which may come one by one.
    constexpr std::string_view mark = "\xef\xbb\xbf";
    std::size_t bytes = 0;
    while (rest_.empty()) {
        if (interrupted_.load(std::memory_order_relaxed)) throw Interrupted();
        const auto result = input_.read(std::span(buffer_).subspan(bytes), wait_ms);
        if (result.status == ByteReader::Status::waiting) continue;
        const bool ended = result.status == ByteReader::Status::end;
        if (!ended) bytes += result.bytes;
        if (!ended && !began_ && bytes < mark.size()) continue;
        rest_ = {buffer_.data(), bytes};
        if (!began_ && rest_.starts_with(mark)) rest_.remove_prefix(mark.size());
        began_ = true;
        bytes = 0;
        if (ended) break;
    }
    return !rest_.empty();
}

bool SequenceReader::read(SequenceBatch& batch, std::size_t residues) {
    batch.text_.clear();
    batch.entries_.clear();
    batch.residues_ = 0;
    batch.first_ = sequences_;
    while (!rest_.empty() || fill()) {
        if (place_ == Place::line_begin && begins_sequence()) {
            if (in_sequence_) end_sequence(batch);
            if (is_full(batch, residues)) return true;
            begin_sequence(batch);
            continue;
        }
        const std::size_t length = std::min(rest_.find('\n'), rest_.size());
        const bool ends = length != rest_.size();
        take(batch, rest_.substr(0, length), ends);
        rest_.remove_prefix(length + (ends ? 1 : 0));
        if (ends) end_line(batch);
    }
    end_file(batch);
    return batch.size() != 0;
}

bool SequenceReader::begins_sequence() {
    const char letter = rest_.front();
    if (form_ == Form::unknown && letter == '>') form_ = Form::fasta;
    if (form_ == Form::unknown && letter == '@') {
        if (alphabet_.molecule() == Molecule::protein) {
            fail(line_, "FASTQ, whose sequences are nucleic acids: --dna is missing");
        }
        form_ = Form::fastq;
    }
    if (form_ == Form::fastq) return letter == '@' && !in_sequence_;
    return form_ == Form::fasta && letter == '>';
}

bool SequenceReader::is_full(const SequenceBatch& batch, std::size_t residues) noexcept {
    return batch.residues_ >= residues ||
           batch.text_.size() >= 2 * batch.residues_ + header_bytes_max;
}

void SequenceReader::begin_sequence(SequenceBatch& batch) {
    batch.entries_.push_back({batch.text_.size(), 0, 0, 0});
    rest_.remove_prefix(1);
    header_line_ = line_;
    in_sequence_ = true;
    place_ = Place::in_header;
}

/// Some of a line, up to its end where that is known.
void SequenceReader::take(SequenceBatch& batch, std::string_view part, bool ends) {
    if (place_ == Place::line_begin) {
        place_ = has_plus_ ? Place::in_qualities : Place::in_residues;
        if (form_ == Form::fastq && in_sequence_ && !has_plus_ && part.starts_with('+')) {
            SequenceBatch::Entry& entry = batch.entries_.back();
            entry.residues_size = batch.text_.size() - entry.begin - entry.header_size;
            has_plus_ = true;
            place_ = Place::in_plus;
        }
    }
    if (place_ == Place::in_header) take_header(batch, part, ends);
    if (place_ == Place::in_residues) take_residues(batch, part);
    if (place_ == Place::in_qualities) take_qualities(batch, part);
}

void SequenceReader::end_line(SequenceBatch& batch) {
    place_ = Place::line_begin;
    ++line_;
    if (!has_plus_) return;
    const SequenceBatch::Entry& entry = batch.entries_.back();
    if (entry.qualities_size == entry.residues_size) end_sequence(batch);
}

void SequenceReader::end_file(SequenceBatch& batch) {
    if (form_ == Form::fastq && place_ != Place::line_begin) end_line(batch);
    if (in_sequence_ && form_ == Form::fastq) {
        const SequenceBatch::Entry& entry = batch.entries_.back();
        fail(header_line_,
             has_plus_ ? fmt::format("{} qualities for {} residues, where the file ends",
                                     entry.qualities_size, entry.residues_size)
                       : "the file ends before the line of '+' and the qualities of this sequence");
    }
    if (in_sequence_) end_sequence(batch);
    if (sequences_ == 0) {
        fail(empty_ == 0 ? 1 : first_empty_line_,
             empty_ == 0 ? "there is no sequence" : "there is no sequence with residues");
    }
}

void SequenceReader::take_header(SequenceBatch& batch, std::string_view part, bool ends) {
    batch.text_.append(part);
    SequenceBatch::Entry& entry = batch.entries_.back();
    if (batch.text_.size() - entry.begin > header_bytes_max) {
        fail(line_, fmt::format("a header of more than {} bytes", header_bytes_max));
    }
    if (!ends) return;
    while (batch.text_.size() > entry.begin &&
           std::string_view(" \t\r").find(batch.text_.back()) != std::string_view::npos) {
        batch.text_.pop_back();
    }
    entry.header_size = batch.text_.size() - entry.begin;
}

void SequenceReader::take_residues(SequenceBatch& batch, std::string_view part) {
    const std::size_t before = batch.text_.size();
    const Alphabet::Encoded encoded = alphabet_.encode(part, batch.text_);
    if (!in_sequence_ && (batch.text_.size() != before || encoded.rejected != nullptr)) {
        fail(line_, form_ == Form::fastq
                        ? "no FASTQ: a sequence begins with a line of '@' and its name"
                        : "no FASTA: a sequence begins with a line of '>' and its name (of '@' in "
                          "FASTQ)");
    }
    if (encoded.rejected != nullptr) {
        const char any = any_residue(alphabet_.molecule());
        fail(line_,
             fmt::format("{} is no residue of a {}{}; {}", shown(*encoded.rejected),
                         alphabet_.molecule() == Molecule::protein ? "protein" : "nucleic acid",
                         alphabet_.has_any() ? "" : " that the matrix has a row for",
                         alphabet_.has_any() ? fmt::format("--unknown any reads it as {}", any)
                                             : fmt::format("it has none for {} either", any)));
    }
    replaced_ += encoded.replaced;
    if (in_sequence_ &&
        batch.text_.size() - batch.entries_.back().begin > residues_max + header_bytes_max) {
        fail(header_line_, fmt::format("a sequence of more than {} residues", residues_max));
    }
}

void SequenceReader::take_qualities(SequenceBatch& batch, std::string_view part) {
    SequenceBatch::Entry& entry = batch.entries_.back();
    while (!part.empty() && std::string_view(" \t\r").find(part.back()) != std::string_view::npos) {
        part.remove_suffix(1);
    }
    const auto wrong =
        std::ranges::find_if(part, [](char letter) { return letter < '!' || letter > '~'; });
    if (wrong != part.end()) fail(line_, fmt::format("{} is no quality", shown(*wrong)));
    batch.text_.append(part);
    entry.qualities_size += part.size();
    if (entry.qualities_size > entry.residues_size) {
        fail(line_, fmt::format("more qualities than the {} residues of the sequence in line {}",
                                entry.residues_size, header_line_));
    }
}

void SequenceReader::end_sequence(SequenceBatch& batch) {
    SequenceBatch::Entry& entry = batch.entries_.back();
    // The last line may be a header without an end.
    if (place_ == Place::in_header) take_header(batch, {}, true);
    if (!has_plus_) {
        entry.residues_size = batch.text_.size() - entry.begin - entry.header_size;
    }
    in_sequence_ = false;
    has_plus_ = false;
    if (entry.residues_size == 0) {
        if (empty_++ == 0) first_empty_line_ = header_line_;
        batch.text_.resize(entry.begin);
        batch.entries_.pop_back();
        return;
    }
    ++sequences_;
    batch.residues_ += entry.residues_size;
    residues_ += entry.residues_size;
}

}  // namespace strid::align
