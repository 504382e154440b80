// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <random>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/engine/state/journal_log.hpp>

namespace strid {

namespace detail {

namespace {

constexpr std::int64_t room_retry_ns = 100'000'000;

std::string kind_name(JournalKind kind) {
    return kind == JournalKind::text ? "of a text" : "of the records of an inlet";
}

/// Finds the end, and takes files off the list whose first block was never whole.
JournalEnd end_of(const JournalFolder& folder, JournalKind kind, std::vector<JournalFile>& files) {
    for (; !files.empty(); files.pop_back()) {
        auto reader = folder.open(files.back());
        if (!reader.has_header()) continue;
        if (reader.kind() != kind) {
            throw InputOutputError(fmt::format("{}: the journal is one {}, and not {}",
                                               folder.path(), kind_name(reader.kind()),
                                               kind_name(kind)));
        }
        const JournalFileHeader& header = reader.header();
        JournalEnd end{header.first, header.lines, header.line_end};
        while (reader.next() == JournalFileReader::Found::block) end.add(kind, reader.text());
        if (end.bytes != header.first) return end;
    }
    return {};
}

JournalKind kind_of(const JournalFolder& folder, const std::vector<JournalFile>& files) {
    for (const JournalFile& file : files) {
        const auto reader = folder.open(file);
        if (reader.has_header()) return reader.kind();
    }
    return JournalKind::text;
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

void refuse_journal_without_snapshots(const std::string& folder) {
    throw GraphError(
        fmt::format("{}: a journal is of a run that takes snapshots, and this one takes none "
                    "(--snapshots, RunOptions::snapshots)",
                    folder));
}

void JournalEnd::add(JournalKind kind, std::string_view block) noexcept {
    if (kind == JournalKind::text) {
        lines += static_cast<std::uint64_t>(std::count(block.begin(), block.end(), '\n'));
        const auto last = block.rfind('\n');
        if (last != std::string_view::npos) line_bytes = bytes + last + 1;
        bytes += block.size();
        return;
    }
    JournalRecords records;
    if (block.size() >= sizeof records) std::memcpy(&records, block.data(), sizeof records);
    lines += records.count;
    bytes += block.size();
    line_bytes = bytes;
}

JournalLog::JournalLog(JournalOptions options, JournalKind kind, bool begins_anew, Warn warn)
    : options_(std::move(options)),
      kind_(kind),
      warn_(std::move(warn)),
      folder_(options_.folder, JournalFolder::Use::writes) {
    const auto all = folder_.files();
    if (all.empty() || begins_anew) {
        begin_generation(random_id());
    } else {
        use(all.front().generation, all);
    }
}

void JournalLog::begin_generation(std::uint64_t id) {
    const auto all = folder_.files();
    generation_ = all.empty() ? 0 : all.back().generation + 1;
    id_ = id;
    files_.clear();
    end_ = {};
}

void JournalLog::use(std::uint64_t generation, const std::vector<JournalFile>& all) {
    generation_ = generation;
    files_ = files_of(generation, all);
    const auto found = files_;
    end_ = end_of(folder_, kind_, files_);
    for (std::size_t i = files_.size(); i != found.size(); ++i) folder_.remove(found[i]);
    id_ = files_.empty() ? random_id() : folder_.open(files_.front()).header().journal;
}

bool JournalLog::find_generation(std::uint64_t id) {
    const auto all = folder_.files();
    for (const JournalFile& file : all) {
        const auto reader = folder_.open(file);
        if (!reader.has_header() || reader.header().journal != id) continue;
        use(file.generation, all);
        return id_ == id;
    }
    return false;
}

void JournalLog::go_on(std::uint64_t journal, const JournalEnd& place,
                       std::optional<std::uint64_t> head_bytes) {
    if (journal != id_ && !find_generation(journal)) {
        if (place.bytes != 0) {
            throw InputOutputError(fmt::format(
                "{}: is not the journal of the snapshot, or its files are gone", folder_.path()));
        }
        begin_generation(journal);
    }
    // Of a run that has begun anew and stored no snapshot.
    for (const JournalFile& file : folder_.files()) {
        if (file.generation > generation_) folder_.remove(file);
    }
    // The power was lost: the snapshot has what is missing.
    if (place.bytes > end_.bytes) end_ = place;
    needed_ = {{0, place.bytes, head_bytes}};
}

void JournalLog::cut_unfinished_line(std::uint64_t place) {
    if (end_.line_bytes == end_.bytes || place > end_.line_bytes) return;
    end_.bytes = end_.line_bytes;
    while (!files_.empty() && files_.back().first >= end_.bytes) {
        folder_.remove(files_.back());
        files_.pop_back();
    }
}

void JournalLog::fail_of_gap(std::uint64_t from, std::uint64_t to) const {
    throw InputOutputError(
        fmt::format("{}: the journal does not have bytes {} to {} of the input: it goes on from a "
                    "snapshot that this run does not have, or files are gone",
                    folder_.path(), from, to));
}

/// Loads the block of the place, which lies before `limit`.
void JournalLog::find_block(std::uint64_t place, std::uint64_t limit) {
    const auto next = std::upper_bound(
        files_.begin(), files_.end(), place,
        [](std::uint64_t wanted, const JournalFile& one) { return wanted < one.first; });
    if (next == files_.begin()) fail_of_gap(place, files_.empty() ? limit : next->first);
    const JournalFile& file = *std::prev(next);
    if (!reader_ || reader_first_ != file.first) {
        reader_.emplace(folder_.open(file));
        reader_first_ = file.first;
        if (!reader_->has_header() || reader_->header().journal != id_ ||
            reader_->header().first != file.first) {
            throw InputOutputError(reader_->path() + ": is not the file that its name says");
        }
    }
    while (reader_->end() <= place) {
        if (reader_->next() == JournalFileReader::Found::block) continue;
        fail_of_gap(place, next == files_.end() ? limit : next->first);
    }
}

std::string_view JournalLog::at(std::uint64_t place, std::uint64_t limit) {
    find_block(place, limit);
    for (const JournalFile& file : files_) {
        if (file.first > place) limit = std::min(limit, file.first);
    }
    const std::uint64_t begin = reader_->end() - reader_->text().size();
    const std::uint64_t end = std::min(reader_->end(), limit);
    return reader_->text().substr(place - begin, end - place);
}

PlaceInFile JournalLog::end_in_input() const {
    if (files_.empty()) return {};
    const auto header = folder_.open(files_.back()).header();
    PlaceInFile place = header.file;
    if (place.file != 0) place.bytes += end_.bytes - header.first;
    return place;
}

bool JournalLog::append(std::span<const char> block, const PlaceInFile& from) {
    int error = 0;
    if (!writer_.is_open() || writer_.file_bytes() >= options_.file_bytes || from != end_file_) {
        error = begin_file(from);
    }
    if (error == 0) error = writer_.append(block);
    if (error != 0) {
        if (!is_no_room(error) || options_.on_full == OnJournalFull::fail) {
            fail_of_journal(folder_.path(), "cannot write to the journal", error);
        }
        if (!std::exchange(is_full_, true)) {
            warn_(
                fmt::format("{}: there is no room for the journal: nothing is read until there is",
                            folder_.path()));
        }
        tried_ns_ = now_ns();
        return false;
    }
    is_full_ = false;
    end_.add(kind_, {block.data(), block.size()});
    if (end_file_.file != 0) end_file_.bytes += block.size();
    if (options_.sync == JournalSync::each_chunk) synchronize();
    if (options_.sync == JournalSync::at_times) {
        if (unsynchronized_since_ns_ == 0) unsynchronized_since_ns_ = now_ns();
        synchronize_if_due();
    }
    return true;
}

std::int64_t JournalLog::retry_at_ns() const noexcept {
    return tried_ns_ + room_retry_ns;
}

/// An error of the system, or 0.
int JournalLog::begin_file(const PlaceInFile& from) {
    const bool is_synchronized = options_.sync != JournalSync::never;
    if (writer_.is_open()) {
        if (is_synchronized) synchronize();
        writer_.close();
    }
    const JournalFile file{generation_, end_.bytes};
    const int created = folder_.create(file);
    if (created < 0) return errno;
    const int error = writer_.begin(created, kind_,
                                    {.journal = id_,
                                     .first = end_.bytes,
                                     .lines = end_.lines,
                                     .line_end = end_.line_bytes,
                                     .file = from});
    if (error != 0) {
        writer_.close();
        folder_.remove(file);
        return error;
    }
    files_.push_back(file);
    end_file_ = from;
    return is_synchronized ? folder_.synchronize() : 0;
}

void JournalLog::synchronize() {
    unsynchronized_since_ns_ = 0;
    if (!writer_.is_open()) return;
    if (const int error = writer_.synchronize(); error != 0) {
        fail_of_journal(folder_.path(), "the journal may not be on the disk", error);
    }
}

void JournalLog::synchronize_if_due() {
    const std::int64_t due_ns = synchronize_at_ns();
    if (due_ns != 0 && now_ns() >= due_ns) synchronize();
}

std::int64_t JournalLog::synchronize_at_ns() const noexcept {
    return unsynchronized_since_ns_ == 0 ? 0
                                         : unsynchronized_since_ns_ + options_.sync_every.count();
}

void JournalLog::synchronize_head() {
    if (options_.sync == JournalSync::each_chunk) return;
    synchronize();
    if (const int error = folder_.synchronize(); error != 0) {
        fail_of_journal(folder_.path(), "the journal may not be on the disk", error);
    }
}

void JournalLog::begin_snapshot(std::uint64_t number, std::uint64_t place,
                                std::optional<std::uint64_t> head_bytes, std::uint64_t oldest) {
    while (needed_.size() > 1 && needed_[1].number <= oldest) needed_.pop_front();
    const bool is_known = oldest != 0 && !needed_.empty() && needed_.front().number <= oldest;
    if (is_known) remove_unneeded(needed_.front());
    needed_.push_back({number, place, head_bytes});
}

void JournalLog::remove_unneeded(const Needed& needed) {
    try {
        for (const JournalFile& file : folder_.files()) {
            if (file.generation != generation_) folder_.remove(file);
        }
        if (!needed.head_bytes) return;  // all is read at a start
        for (std::size_t i = 0; i + 1 < files_.size() && files_[i + 1].first <= needed.place;) {
            if (files_[i].first < *needed.head_bytes) {
                ++i;
                continue;
            }
            folder_.remove(files_[i]);
            files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    } catch (const InputOutputError& error) {
        warn_(error.what());  // it is tried again behind the next snapshot
    }
}

void JournalLog::remove_all() {
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
    const detail::JournalKind kind = detail::kind_of(opened, files);
    const detail::JournalEnd end = detail::end_of(opened, kind, files);
    figures.are_records = kind == detail::JournalKind::records;
    figures.lines = end.lines;
    figures.line_bytes = end.line_bytes;
    figures.bytes = end.bytes;
    return figures;
}

}  // namespace strid
