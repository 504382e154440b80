// SPDX-License-Identifier: Apache-2.0
//
// The part of FileSource that reads ranges ahead of the rows, for tasks that parse them, and the
// place in the text, which depends on them.
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <strid/engine/connector/file_source.hpp>

namespace strid {

namespace {

/// A file of fewer chunks is read before another worker has begun.
constexpr std::size_t chunks_least = 4;
/// Of a perturbed run, whose ranges begin and end everywhere.
constexpr std::size_t perturbed_chunk_bytes = 256;
/// At most for so many regions nothing is read ahead after a guess that was wrong.
constexpr std::size_t alone_max = 64;

}  // namespace

std::uint64_t FileSource::text_bytes() const noexcept {
    if (range_ != nullptr) {
        return range_->text.bytes_before +
               static_cast<std::uint64_t>(position_ - range_->text.begin);
    }
    // A task parses the oldest range, so that none is at hand yet. (Ranges are of files.)
    if (ranges_ != nullptr && !may_block_ && !ranges_->empty()) {
        return ranges_->at(0).text.bytes_before;
    }
    return reader_->bytes_passed() + static_cast<std::uint64_t>(position_ - reader_->begin());
}

bool FileSource::gains_by_ranges(const TasksWanted& wanted) {
    if (wanted.perturbed) {
        text_options_.chunk_bytes = std::min(text_options_.chunk_bytes, perturbed_chunk_bytes);
    }
    if (journal_options_.on() || (wanted.workers < 2 && !wanted.perturbed)) return false;
    return std::any_of(paths_.begin(), paths_.end(), [this](const std::string& path) {
        if (path == "-" || input_may_block(path)) return false;
        std::error_code error;
        const auto bytes = std::filesystem::file_size(path, error);
        return !error && bytes / chunks_least >= text_options_.chunk_bytes;
    });
}

// One is at hand, and each task has one; the others are read meanwhile. A part of the chunks is
// left to batches.
std::size_t FileSource::ranges_for(std::size_t tasks) const noexcept {
    return std::min(tasks + 2, std::max<std::size_t>(text_options_.chunks / 4, 3));
}

bool FileSource::may_read_ahead() noexcept {
    if (ranges_ == nullptr || may_block_ || is_first_text_ || pass_to_ != 0) return false;
    if (position_ != end_ || reader_->is_skipping() || reader_->region_end() != '\n') return false;
    if (alone_ == 0) return true;
    --alone_;
    return false;
}

/// Reads as many ranges as there is room for. Returns how the last attempt ended.
LineReader::Status FileSource::read_ahead() {
    auto status = LineReader::Status::text;
    while (ranges_->has_room()) {
        reader_->end_chunk();
        status = reader_->read_more(reader_->end(), 0);
        if (status != LineReader::Status::text) break;
        ranges_->push(
            {reader_->chunk(), reader_->begin(), reader_->end(), reader_->bytes_passed()});
    }
    // Tasks without a range may keep the chunks of rows that have left.
    if (status == LineReader::Status::no_chunk) ranges_->notify_tasks();
    publish_progress();
    return status;
}

/// The range behind the one at hand is at hand, unless a task parses it yet.
bool FileSource::take_range() noexcept {
    ParsedRange& next = ranges_->at(range_ != nullptr ? 1 : 0);
    if (!ranges_->take(next)) {
        wake_at_ns_ = 0;  // the task notifies
        return false;
    }
    if (range_ != nullptr) ranges_->pop();
    range_ = &next;
    position_ = next.text.begin;
    end_ = next.text.end;
    return true;
}

/// All rows of the range that were parsed have left. The text behind them is read as before.
void FileSource::end_parsed() noexcept {
    range_->has_rows = false;
    position_ = range_->parsed_to;
    line_number_ += range_->lines;
    if (position_ == end_) alone_next_ = std::max<std::size_t>(alone_next_ / 2, 1);
}

/// The rows of the range at hand were parsed in vain.
void FileSource::read_range_again() noexcept {
    range_->changes.undo_from(range_->text.begin);
    range_->forget_rows();
    range_->row_ends.clear();
    range_->has_rows = false;
}

/// The row at position_ goes on behind the range at hand, so the ranges behind it begin within a
/// row: their text is read once more. False while a task parses one of them.
bool FileSource::give_back() {
    for (std::size_t i = 1; i < ranges_->size(); ++i) {
        if (ranges_->take(ranges_->at(i))) continue;
        wake_at_ns_ = 0;
        return false;
    }
    std::string text(position_, end_);
    for (std::size_t i = 1; i < ranges_->size(); ++i) {
        ParsedRange& range = ranges_->at(i);
        range.changes.undo_from(range.text.begin);
        text.append(range.text.begin, range.text.end);
    }
    text.append(reader_->end(), reader_->data_end());
    reader_->read_again(std::move(text), text_bytes());
    end_ranges();
    position_ = end_ = reader_->begin();
    alone_ = alone_next_;
    alone_next_ = std::min(alone_next_ * 2, alone_max);
    return true;
}

void FileSource::end_ranges() noexcept {
    range_ = nullptr;
    while (!ranges_->empty()) ranges_->pop();
}

}  // namespace strid
