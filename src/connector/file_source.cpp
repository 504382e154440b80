// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/connector/transport.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/text.hpp>
#include <strid/engine/connector/file_source.hpp>

#include "file_sizes.hpp"
#include "followed_file.hpp"
#include "journal.hpp"
#include "run_of_input.hpp"
#include "socket_input.hpp"

namespace strid {

namespace {

constexpr int pipe_wait_ms_max = 20;             // how soon a stop is seen on a silent pipe
constexpr std::int64_t chunk_retry_ns = 20'000;  // how soon a chunk may have come back
/// For so long what waited in a pipe at a stop is read.
constexpr std::int64_t drain_ns_max = 5'000'000'000;

/// Throws InputOutputError, as opening would.
void check_readable(const std::string& path) {
    if (path != "-" && !input_may_block(path)) const ByteReader check(path);
}

}  // namespace

FileSource::FileSource(std::vector<std::string> paths, TextOptions text, JournalOptions journal,
                       MalformedOptions malformed)
    : paths_(std::move(paths)),
      journal_options_(std::move(journal)),
      text_options_(std::move(text)),
      malformed_options_(std::move(malformed)) {
    if (paths_.empty()) throw GraphError("a source of files has no file to read");
    if (std::count(paths_.begin(), paths_.end(), "-") > 1) {
        throw GraphError("standard input, '-', can be read once only");
    }
    for (const std::string& path : paths_) {
        if (is_transport_address(path)) check_transport_address(path);
    }
    check_text_options(text_options_);
    check_malformed_options(malformed_options_);
    detail::check_journal_options(journal_options_);
    if (journal_options_.on() && paths_.size() != 1) {
        throw GraphError(fmt::format("{}: a journal is of one input, and there are {}",
                                     journal_options_.folder, paths_.size()));
    }
}

FileSource::FileSource(const FileSource& other)
    : paths_(other.paths_),
      journal_options_(other.journal_options_),
      text_options_(other.text_options_),
      malformed_options_(other.malformed_options_),
      keep_all_text_(other.keep_all_text_) {}

FileSource::FileSource(FileSource&& other) noexcept
    : position_(std::exchange(other.position_, nullptr)),
      end_(std::exchange(other.end_, nullptr)),
      line_number_(other.line_number_),
      reader_(std::move(other.reader_)),
      malformed_(std::move(other.malformed_)),
      run_(other.run_),
      connection_(std::move(other.connection_)),
      paths_(std::move(other.paths_)),
      input_(other.input_),
      place_(other.place_),
      pass_to_(other.pass_to_),
      emit_from_(other.emit_from_),
      is_first_text_(other.is_first_text_),
      journal_options_(std::move(other.journal_options_)),
      journal_(std::move(other.journal_)),
      needs_head_(other.needs_head_),
      skips_text_(other.skips_text_),
      skipped_bytes_(other.skipped_bytes_),
      bytes_before_(other.bytes_before_),
      bytes_of_all_(other.bytes_of_all_),
      text_options_(std::move(other.text_options_)),
      malformed_options_(std::move(other.malformed_options_)),
      keep_all_text_(other.keep_all_text_),
      waited_(other.waited_),
      wake_at_ns_(other.wake_at_ns_),
      fraction_done_(other.fraction_done()),
      bytes_read_(other.bytes_read()) {}

FileSource::~FileSource() = default;

void FileSource::begin(const Context& context) {
    if (context.replica != 0) return;
    run_ = context.run;
    input_ = 0;
    place_ = {};
    pass_to_ = 0;
    emit_from_ = whole_input;
    bytes_before_ = bytes_of_all_ = 0;
    // Not after hours with the files before it.
    for (std::size_t i = paths_.size(); i-- > 1;) check_readable(paths_[i]);
    skips_text_ = false;
    skipped_bytes_ = 0;
    if (journal_options_.on()) {
        check_journal(context);
        journal_ = std::make_shared<detail::Journal>(journal_options_, *context.run);
        place_.journal.journal = journal_->id();
    }
    needs_head_ = journal_ != nullptr;
    open_input();
    if (journal_) context.run->add(journal_);
    malformed_ = std::make_unique<MalformedHandler>(malformed_options_, context.run);
    stopped_.store(false, std::memory_order_relaxed);
    drain_until_ns_ = 0;
    place_is_final_ = false;
    if (paths_.size() > 1) bytes_of_all_ = detail::size_of_all(paths_);
}

void FileSource::open_input() {
    reader_.reset();  // it may listen at the port that is to be listened at
    {
        const detail::RunOfInput opened_for(run_);
        reader_ =
            std::make_unique<LineReader>(path(), text_options_, keep_all_text_, journal_.get());
    }
    const bool is_outside = run_ != nullptr && is_transport_address(path());
    connection_ = is_outside ? run_->connect_to(path()) : nullptr;
    position_ = end_ = nullptr;
    line_number_ = 0;
    is_first_text_ = true;
    is_draining_ = false;
    may_block_ = input_may_block(path());
    range_ = nullptr;
    alone_ = 0;
    alone_next_ = 1;
}

void FileSource::check_journal(const Context& context) const {
    if (context.run == nullptr || !context.run->takes_snapshots()) {
        detail::refuse_journal_without_snapshots(journal_options_.folder);
    }
    if (!input_goes_away(path())) {
        throw GraphError(
            fmt::format("{}: a file can be read once more, and needs no journal", name()));
    }
    if (journal_options_.acknowledges && !detail::is_socket_address(path())) {
        throw GraphError(fmt::format(
            "{}: acknowledgements go to the other end of a socket without options, which has one "
            "producer",
            name()));
    }
}

void FileSource::pass_byte_order_mark() noexcept {
    if (!std::exchange(is_first_text_, false)) return;
    const std::string_view text(position_, static_cast<std::size_t>(end_ - position_));
    if (text.starts_with(byte_order_mark)) position_ += byte_order_mark.size();
}

bool FileSource::begin_next_input() {
    const bool is_stopped = stopped_.load(std::memory_order_relaxed);
    if (pass_to_ != 0 && pass_to_ != whole_input && !is_stopped) {
        throw InputOutputError(
            fmt::format("{}: is shorter than it was when its rows were read", name()));
    }
    reader_->bytes().passed(text_bytes());
    const std::uint64_t bytes = reader_->bytes().bytes_read();
    while (input_ + 1 != paths_.size()) {
        ++input_;
        const bool may_wait = input_goes_away(path()) && !detail::is_socket_address(path());
        if (is_stopped && !may_wait) continue;
        bytes_before_ += bytes;
        open_input();
        return true;
    }
    return false;
}

bool FileSource::is_journalled() const noexcept {
    const auto letters = dead_letter_file_of(malformed_options_);
    const bool can_be_repeated = std::any_of(paths_.begin(), paths_.end(), is_transport_address) &&
                                 std::none_of(paths_.begin(), paths_.end(), input_goes_away);
    const bool can_go_on = journal_options_.on() || can_be_repeated;
    return can_go_on && !(letters && file_may_block(letters->path, StandardStream::output));
}

bool FileSource::blocks() const noexcept {
    if (std::any_of(paths_.begin(), paths_.end(), input_may_block)) return true;
    const auto letters = dead_letter_file_of(malformed_options_);
    return letters && file_may_block(letters->path, StandardStream::output);
}

std::vector<FileUse> FileSource::files() const {
    std::vector<FileUse> files;
    for (const std::string& path : paths_) {
        if (is_transport_address(path)) continue;
        const std::string_view followed = detail::followed_path(path);
        files.push_back({.kind = FileUse::Kind::reads,
                         .path = followed.empty() ? path : std::string(followed)});
    }
    if (auto letters = dead_letter_file_of(malformed_options_)) files.push_back(*letters);
    return files;
}

FileSource::Refill FileSource::refill(bool may_cut) {
    STRID_ASSERT(reader_ != nullptr);
    malformed_->flush();
    const bool is_stopped = stopped_.load(std::memory_order_relaxed);
    if (is_stopped) {
        if (!input_goes_away(path())) return Refill::stopped;
        if (!std::exchange(is_draining_, true)) reader_->read_only_what_waits();
        if (drain_until_ns_ == 0) drain_until_ns_ = now_ns() + drain_ns_max;
        const bool has_accepted = journal_ && journal_->has_unread();
        if (now_ns() > drain_until_ns_ && !has_accepted) return Refill::stopped;
    }
    if (range_ != nullptr && position_ != end_ && !give_back()) return Refill::parsing;
    LineReader::Status status{};
    if (range_ != nullptr || (may_cut && may_read_ahead())) {
        status = read_ahead();
        if (ranges_->size() > (range_ != nullptr ? 1 : 0)) {
            return take_range() ? Refill::text : Refill::parsing;
        }
        end_ranges();
    } else {
        status = reader_->read_more(position_, waited_ && !is_stopped ? pipe_wait_ms_max : 0);
    }
    position_ = reader_->begin();
    end_ = reader_->end();
    if (connection_) note_connection();
    if (waited_ && status == LineReader::Status::text) arrived_ns_ = now_ns();
    waited_ = status == LineReader::Status::waiting;
    publish_progress();
    switch (status) {
        using enum LineReader::Status;
        case text:
            return Refill::text;
        case too_long:
            return Refill::too_long;
        case waiting:  // the next poll waits in the kernel
            wake_at_ns_ = now_ns();
            return is_stopped ? Refill::stopped : Refill::wait;
        case no_chunk:
            wake_at_ns_ = now_ns() + chunk_retry_ns;
            return Refill::no_chunk;
        case end:
            break;
    }
    return Refill::end;
}

void FileSource::note_connection() {
    const std::string_view reason = reader_->bytes().lost();
    if (reason.empty()) {
        connection_->is_back();
    } else {
        connection_->lost(reason, "it is connected to once more");
    }
}

void FileSource::report_cut_off() {
    if (!input_goes_away(path())) return;
    const char* const data_end = reader_->data_end();
    if (position_ != data_end) {
        const std::string_view text{position_, static_cast<std::size_t>(data_end - position_)};
        malformed_->report_cut_off(
            {name(), line_number_ + 1, "cut off: the run was stopped", text});
        position_ = end_;
    }
    const std::uint64_t bytes =
        reader_->bytes().bytes_waiting() + (journal_ ? journal_->bytes_pending() : 0);
    if (bytes != 0) {
        const std::string reason =
            fmt::format("{} bytes that waited were not read: the run was stopped", bytes);
        malformed_->report_cut_off({name(), line_number_ + 1, reason, {}});
    }
}

std::string_view FileSource::name() const noexcept {
    const std::string_view followed = detail::followed_path(path());
    if (!followed.empty()) return followed;
    return path() == "-" ? std::string_view("standard input") : path();
}

void FileSource::refuse(std::uint64_t line, std::string_view reason, std::string_view text) {
    if (apart_ != nullptr) {
        is_refused_ = true;  // by the source, in the order of the rows
        return;
    }
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    malformed_->report({name(), line, reason, text});
}

void FileSource::refuse_too_long(std::string_view text) {
    constexpr std::size_t shown_bytes_max = 1024;
    refuse(line_number_, fmt::format("the line is longer than {} bytes", line_bytes_max()),
           text.substr(0, shown_bytes_max));
}

void FileSource::drop_too_long() {
    ++line_number_;
    refuse_too_long({position_, static_cast<std::size_t>(reader_->data_end() - position_)});
    reader_->skip_line();
}

void FileSource::finish() {
    malformed_->flush();
    if (is_passing()) end_passing();
    reader_.reset();
    range_ = nullptr;
    position_ = end_ = nullptr;
    fraction_done_.store(1, std::memory_order_relaxed);
}

void FileSource::publish_progress() noexcept {
    const ByteReader& bytes = reader_->bytes();
    const std::uint64_t done =
        bytes_before_ + bytes.bytes_read() + (journal_ ? journal_->bytes_read_again() : 0);
    bytes_read_.store(done, std::memory_order_relaxed);
    const std::uint64_t all = paths_.size() == 1 ? bytes.size_bytes() : bytes_of_all_;
    if (all == 0) return;
    const double fraction = static_cast<double>(done) / static_cast<double>(all);
    fraction_done_.store(std::min(fraction, 1.0), std::memory_order_relaxed);
}

}  // namespace strid
