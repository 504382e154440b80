// SPDX-License-Identifier: Apache-2.0
//
// The part of FileSource that names its place for a snapshot, and goes on from one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/connector/file_source.hpp>

#include "file_sizes.hpp"
#include "journal.hpp"

namespace strid {

namespace {

std::ptrdiff_t offset(std::size_t index) {
    return static_cast<std::ptrdiff_t>(index);
}

}  // namespace

void FileSource::on(SnapshotBegins snapshot) {
    if (malformed_) malformed_->begin_snapshot(snapshot.number);
    if (!reader_) return;
    if (reader_->bytes().has_positions()) {
        std::tie(place_.journal.message, place_.journal.message_bytes) =
            reader_->bytes().position(place_.passed_bytes);
    } else {  // of an input before this one
        place_.journal.message.clear();
        place_.journal.message_bytes = 0;
    }
    if (!journal_) return;
    journal_->begin_snapshot(snapshot.number, place_.passed_bytes, place_.journal.head_bytes);
}

void FileSource::go_on_in_journal() {
    const JournalPlace& place = place_.journal;
    journal_->go_on({.journal = place.journal,
                     .head_bytes = place.head_bytes,
                     .bytes = place_.passed_bytes,
                     .line = place.line});
    needs_head_ = place.head_bytes == 0;
    skips_text_ = !needs_head_ && place_.passed_bytes > place.head_bytes;
    pass_to_ = skips_text_ ? place.head_bytes : place_.passed_bytes;
    malformed_->silence(pass_to_ != 0);
}

void FileSource::go_on_in_messages() {
    const JournalPlace& place = place_.journal;
    if (input_ != 0)
        bytes_before_ = detail::size_of_all({paths_.begin(), paths_.begin() + offset(input_)});
    open_input();
    reader_->bytes().go_on_at(place.message);
    // From now on bytes count from that message.
    pass_to_ = place_.passed_bytes - place.message_bytes;
    place_.passed_bytes = pass_to_;
    place_.journal.message_bytes = 0;
    malformed_->silence(pass_to_ != 0);
}

// The region ends with the head, as the journal reads them apart.
void FileSource::skip_text() noexcept {
    skips_text_ = false;
    skipped_bytes_ = place_.passed_bytes - place_.journal.head_bytes;
    line_number_ = place_.journal.line;
    if (place_.journal.is_in_line) reader_->skip_line();
}

// Documents are cut by what stands before them: of these all is kept.
void FileSource::note_head() {
    if (!reader_ || is_passing() || reader_->is_skipping() || reader_->region_end() != '\n') return;
    place_.journal.head_bytes = text_bytes();
    needs_head_ = place_.journal.head_bytes == 0;
    if (!needs_head_) journal_->keep_head();
}

void FileSource::on(Restored) {
    if (!reader_) return;  // another replica's
    input_ = place_.input;
    const std::uint64_t emitted_bytes = std::min(place_.passed_bytes, emit_from_);
    if (emitted_bytes == whole_input) return finish();
    if (journal_) return go_on_in_journal();
    if (!place_.journal.message.empty()) return go_on_in_messages();
    if (place_.journal.journal != 0) {
        throw InputOutputError(fmt::format(
            "{}: came by a journal before the snapshot: it needs the same one again", name()));
    }
    if (place_.passed_bytes != 0 && input_goes_away(path())) {
        throw InputOutputError(
            fmt::format("{}: cannot be read once more, to go on behind its first {} bytes", name(),
                        emitted_bytes));
    }
    if (input_ != 0)
        bytes_before_ = detail::size_of_all({paths_.begin(), paths_.begin() + offset(input_)});
    open_input();
    pass_to_ = place_.passed_bytes;
    malformed_->silence(pass_to_ != 0);
}

// Of a line that is being dropped the first byte has been passed.
void FileSource::note_place() noexcept {
    if (place_is_final_) return;
    if (!reader_) {
        place_.input = input_;
        place_.passed_bytes = whole_input;
    } else if (!journal_) {
        place_.input = input_;
        place_.passed_bytes = std::max(pass_to_, text_bytes() + (reader_->is_skipping() ? 1 : 0));
    } else if (pass_to_ == 0) {
        place_.passed_bytes = skipped_bytes_ + text_bytes();
        place_.journal.line = line_number_;
        place_.journal.is_in_line = reader_->is_skipping();
    }
}

void FileSource::end_passing() noexcept {
    pass_to_ = 0;
    emit_from_ = whole_input;
    malformed_->silence(false);
}

}  // namespace strid
