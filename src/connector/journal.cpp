// SPDX-License-Identifier: Apache-2.0
#include "journal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

namespace strid {

namespace detail {

namespace {

constexpr std::int64_t room_retry_ns = 100'000'000;
constexpr int full_wait_ms = 20;  // how soon a stop is seen

/// The end of what the files of a generation have.
struct JournalEnd {
    std::uint64_t bytes = 0;
    std::uint64_t lines = 0;
    std::uint64_t line_bytes = 0;  // behind the last of these

    void add(std::string_view text) noexcept {
        lines += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
        const auto last = text.rfind('\n');
        if (last != std::string_view::npos) line_bytes = bytes + last + 1;
        bytes += text.size();
    }
};

/// Finds the end, and takes files off the list whose first block was never whole.
JournalEnd end_of(const JournalFolder& folder, std::vector<JournalFile>& files) {
    for (; !files.empty(); files.pop_back()) {
        auto reader = folder.open(files.back());
        if (!reader.has_header()) continue;
        const JournalFileHeader& header = reader.header();
        JournalEnd end{header.first, header.lines, header.line_end};
        while (reader.next() == JournalFileReader::Found::block) end.add(reader.text());
        if (end.bytes != header.first) return end;
    }
    return {};
}

std::vector<JournalFile> files_of(std::uint64_t generation, const std::vector<JournalFile>& all) {
    std::vector<JournalFile> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [=](const JournalFile& one) { return one.generation == generation; });
    return found;
}

std::uint64_t random_id() {
    std::random_device random;
    const std::uint64_t id = (std::uint64_t{random()} << 32U) | random();
    return id != 0 ? id : 1;
}

bool is_no_room(int error) noexcept {
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

}  // namespace

void check_journal_options(const JournalOptions& options) {
    if (!options.on()) return;
    if (options.file_bytes == 0) throw GraphError("journal: file_bytes must be above 0");
    if (options.sync_every <= std::chrono::nanoseconds::zero()) {
        throw GraphError("journal: sync_every must be positive");
    }
}

Journal::Journal(JournalOptions options, RunScope& run)
    : options_(std::move(options)),
      run_(run),
      folder_(options_.folder, JournalFolder::Use::writes) {
    const auto all = folder_.files();
    if (all.empty() || run_.begins_anew()) {
        begin_generation(random_id());
    } else {
        use(all.front().generation, all);
    }
}

void Journal::begin_generation(std::uint64_t id) {
    const auto all = folder_.files();
    generation_ = all.empty() ? 0 : all.back().generation + 1;
    id_ = id;
    files_.clear();
    end_ = lines_ = line_end_ = 0;
}

void Journal::use(std::uint64_t generation, const std::vector<JournalFile>& all) {
    generation_ = generation;
    files_ = files_of(generation, all);
    const auto found = files_;
    const JournalEnd end = end_of(folder_, files_);
    for (std::size_t i = files_.size(); i != found.size(); ++i) folder_.remove(found[i]);
    end_ = end.bytes;
    lines_ = end.lines;
    line_end_ = end.line_bytes;
    id_ = files_.empty() ? random_id() : folder_.open(files_.front()).header().journal;
}

bool Journal::find_generation(std::uint64_t id) {
    const auto all = folder_.files();
    for (const JournalFile& file : all) {
        const auto reader = folder_.open(file);
        if (!reader.has_header() || reader.header().journal != id) continue;
        use(file.generation, all);
        return id_ == id;
    }
    return false;
}

void Journal::go_on(const Place& place) {
    if (place.journal != id_ && !find_generation(place.journal)) {
        if (place.bytes != 0) {
            throw InputOutputError(fmt::format(
                "{}: is not the journal of the snapshot, or its files are gone", folder_.path()));
        }
        begin_generation(place.journal);
    }
    // Of a run that has begun anew and stored no snapshot.
    for (const JournalFile& file : folder_.files()) {
        if (file.generation > generation_) folder_.remove(file);
    }
    if (place.bytes > end_) {  // the power was lost: the snapshot has what is missing
        end_ = line_end_ = place.bytes;
        lines_ = place.line;
    }
    cut_unfinished_line(place.bytes);
    if (place.head_bytes != 0 && place.bytes > place.head_bytes) {
        skip_from_ = place.head_bytes;
        skip_to_ = place.bytes;
    }
    stored_ = {0, place.bytes, place.head_bytes};
    has_begun_ = true;
}

void Journal::begin_reading() {
    has_begun_ = true;
    cut_unfinished_line(0);
}

void Journal::cut_unfinished_line(std::uint64_t place) {
    if (!options_.whole_lines || line_end_ == end_ || place > line_end_) return;
    end_ = line_end_;
    while (!files_.empty() && files_.back().first >= end_) {
        folder_.remove(files_.back());
        files_.pop_back();
    }
}

void Journal::fail_of_gap(std::uint64_t to) const {
    throw InputOutputError(
        fmt::format("{}: the journal does not have bytes {} to {} of the input: it goes on from a "
                    "snapshot that this run does not have, or files are gone",
                    folder_.path(), position_, to));
}

/// Loads the block of position_, which lies before `limit`.
void Journal::find_block(std::uint64_t limit) {
    const auto next = std::upper_bound(
        files_.begin(), files_.end(), position_,
        [](std::uint64_t place, const JournalFile& one) { return place < one.first; });
    if (next == files_.begin()) fail_of_gap(files_.empty() ? limit : next->first);
    const JournalFile& file = *std::prev(next);
    if (!reader_ || reader_first_ != file.first) {
        reader_.emplace(folder_.open(file));
        reader_first_ = file.first;
        if (!reader_->has_header() || reader_->header().journal != id_ ||
            reader_->header().first != file.first) {
            throw InputOutputError(reader_->path() + ": is not the file that its name says");
        }
    }
    while (reader_->end() <= position_) {
        if (reader_->next() == JournalFileReader::Found::block) continue;
        fail_of_gap(next == files_.end() ? limit : next->first);
    }
}

/// Copies the text at position_, up to the end of a block, of a file or of the head.
std::size_t Journal::read_stored(std::span<char> out) {
    std::string_view text;
    if (pending_begin_ != pending_.size()) {
        text = std::string_view(pending_.data(), pending_.size()).substr(pending_begin_);
        text = text.substr(0, out.size());
        pending_begin_ += text.size();
        if (pending_begin_ == pending_.size()) {
            pending_.clear();
            pending_begin_ = 0;
        }
    } else {
        std::uint64_t limit = skip_from_ != 0 ? skip_from_ : end_;
        find_block(limit);
        for (const JournalFile& file : files_) {
            if (file.first > position_) limit = std::min(limit, file.first);
        }
        const std::uint64_t begin = reader_->end() - reader_->text().size();
        const std::uint64_t end = std::min(reader_->end(), limit);
        text = reader_->text().substr(position_ - begin, end - position_).substr(0, out.size());
        read_again_ += text.size();
    }
    std::memcpy(out.data(), text.data(), text.size());
    position_ += text.size();
    if (position_ == end_) reader_.reset();
    return text.size();
}

ByteReader::Result Journal::read(ByteReader& input, std::span<char> out, int wait_ms) {
    using enum ByteReader::Status;
    if (!has_begun_) begin_reading();
    if (skip_from_ != 0 && position_ == skip_from_) {
        skip_from_ = 0;
        position_ = skip_to_;
    }
    if (is_full_ && !has_unread()) {
        ::poll(nullptr, 0, full_wait_ms);
        if (now_ns() - tried_ns_ < room_retry_ns || !append(pending_)) return {waiting, 0};
        is_full_ = false;
    }
    if (has_unread()) return {read, read_stored(out)};
    if (!std::exchange(is_placed_, true)) place_input(input);
    out = out.first(std::min(out.size(), journal_block_bytes_max));
    const auto got = input.read(out, wait_ms);
    if (got.status != read) {
        synchronize_if_due();
        return got;
    }
    const auto text = out.first(got.bytes);
    if (const auto behind = input.followed_place()) {
        text_file_ = *behind;
        text_file_.bytes -= text.size();
    }
    if (append(text)) {
        position_ = end_;
        return got;
    }
    is_full_ = true;
    pending_.assign(text.begin(), text.end());
    return {waiting, 0};
}

/// A file that is followed goes on behind what the journal has of it.
void Journal::place_input(ByteReader& input) {
    if (files_.empty()) return;
    const auto header = folder_.open(files_.back()).header();
    ByteReader::FilePlace place = header.file;
    if (place.file == 0) return;
    place.bytes += end_ - header.first;
    const bool is_there = input.follow_from(place);
    if (is_there && input.followed_place()->bytes == place.bytes) return;
    const std::string reason =
        is_there ? fmt::format("shorter than the {} bytes that the journal has of it", place.bytes)
                 : fmt::format("gone: what it had behind byte {} is not read", place.bytes);
    run_.warn(fmt::format("{}: the file that was followed is {}; {} is read from its beginning",
                          folder_.path(), reason, is_there ? "it" : "the file of its name"));
}

/// False: there is no room.
bool Journal::append(std::span<const char> text) {
    int error = 0;
    if (!writer_.is_open() || writer_.file_bytes() >= options_.file_bytes ||
        text_file_ != end_file_) {
        error = begin_file();
    }
    if (error == 0) error = writer_.append(text);
    if (error != 0) {
        if (!is_no_room(error) || options_.on_full == OnJournalFull::fail) {
            fail_of_journal(folder_.path(), "cannot write to the journal", error);
        }
        if (!is_full_) {
            run_.warn(
                fmt::format("{}: there is no room for the journal: nothing is read until there is",
                            folder_.path()));
        }
        tried_ns_ = now_ns();
        return false;
    }
    JournalEnd end{end_, lines_, line_end_};
    end.add({text.data(), text.size()});
    end_ = end.bytes;
    lines_ = end.lines;
    line_end_ = end.line_bytes;
    if (end_file_.file != 0) end_file_.bytes += text.size();
    if (options_.sync == JournalSync::each_chunk) synchronize();
    if (options_.sync == JournalSync::at_times) {
        if (unsynchronized_since_ns_ == 0) unsynchronized_since_ns_ = now_ns();
        synchronize_if_due();
    }
    return true;
}

/// An error of the system, or 0.
int Journal::begin_file() {
    const bool is_synchronized = options_.sync != JournalSync::never;
    if (writer_.is_open()) {
        if (is_synchronized) synchronize();
        writer_.close();
    }
    const JournalFile file{generation_, end_};
    const int created = folder_.create(file);
    if (created < 0) return errno;
    const int error = writer_.begin(created, {.journal = id_,
                                              .first = end_,
                                              .lines = lines_,
                                              .line_end = line_end_,
                                              .file = text_file_});
    if (error != 0) {
        writer_.close();
        folder_.remove(file);
        return error;
    }
    files_.push_back(file);
    end_file_ = text_file_;
    return is_synchronized ? folder_.synchronize() : 0;
}

void Journal::synchronize() {
    unsynchronized_since_ns_ = 0;
    if (!writer_.is_open()) return;
    if (const int error = writer_.synchronize(); error != 0) {
        fail_of_journal(folder_.path(), "the journal may not be on the disk", error);
    }
}

void Journal::synchronize_if_due() {
    if (unsynchronized_since_ns_ == 0) return;
    if (now_ns() - unsynchronized_since_ns_ >= options_.sync_every.count()) synchronize();
}

void Journal::keep_head() {
    if (options_.sync == JournalSync::each_chunk) return;
    synchronize();
    if (const int error = folder_.synchronize(); error != 0) {
        fail_of_journal(folder_.path(), "the journal may not be on the disk", error);
    }
}

// Two snapshots are kept: the last one that is stored, and the one before it.
void Journal::begin_snapshot(std::uint64_t number, std::uint64_t place, std::uint64_t head_bytes) {
    if (asked_ && run_.last_stored() == asked_->number) {
        if (stored_) remove_unneeded(*stored_);
        stored_ = asked_;
    }
    asked_ = {number, place, head_bytes};
}

void Journal::remove_unneeded(const Needed& needed) {
    try {
        for (const JournalFile& file : folder_.files()) {
            if (file.generation != generation_) folder_.remove(file);
        }
        if (needed.head_bytes == 0) return;  // all is read at a start
        for (std::size_t i = 0; i + 1 < files_.size() && files_[i + 1].first <= needed.place;) {
            if (files_[i].first < needed.head_bytes) {
                ++i;
                continue;
            }
            folder_.remove(files_[i]);
            files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    } catch (const InputOutputError& error) {
        run_.warn(error.what());  // it is tried again behind the next snapshot
    }
}

void Journal::commit() {
    writer_.close();
    reader_.reset();
    for (const JournalFile& file : folder_.files()) folder_.remove(file);
}

}  // namespace detail

JournalFigures read_journal(const std::string& folder) {
    const detail::JournalFolder opened(folder, detail::JournalFolder::Use::reads);
    const auto all = opened.files();
    JournalFigures figures{.files = all.size()};
    if (all.empty()) return figures;
    for (const auto& file : all) figures.stored_bytes += opened.file_bytes(file);
    auto files = detail::files_of(all.back().generation, all);
    const detail::JournalEnd end = detail::end_of(opened, files);
    figures.lines = end.lines;
    figures.line_bytes = end.line_bytes;
    figures.bytes = end.bytes;
    return figures;
}

}  // namespace strid
