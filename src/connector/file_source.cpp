// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/assert.hpp>
#include <strid/base/clock.hpp>
#include <strid/connector/file_source.hpp>

namespace strid {

namespace {

constexpr int pipe_wait_ms_max = 20;             // how soon a stop is seen on a silent pipe
constexpr std::int64_t chunk_retry_ns = 20'000;  // how soon a chunk may have come back

}  // namespace

FileSource::FileSource(std::string path, TextOptions text, MalformedOptions malformed)
    : path_(std::move(path)), text_options_(text), malformed_options_(std::move(malformed)) {
    check_text_options(text_options_);
    check_malformed_options(malformed_options_);
}

FileSource::FileSource(const FileSource& other)
    : path_(other.path_),
      text_options_(other.text_options_),
      malformed_options_(other.malformed_options_),
      keep_all_text_(other.keep_all_text_) {}

FileSource::FileSource(FileSource&& other) noexcept
    : position_(std::exchange(other.position_, nullptr)),
      end_(std::exchange(other.end_, nullptr)),
      line_number_(other.line_number_),
      reader_(std::move(other.reader_)),
      malformed_(std::move(other.malformed_)),
      path_(std::move(other.path_)),
      text_options_(other.text_options_),
      malformed_options_(std::move(other.malformed_options_)),
      keep_all_text_(other.keep_all_text_),
      waited_(other.waited_),
      wake_at_ns_(other.wake_at_ns_),
      fraction_done_(other.fraction_done()),
      bytes_read_(other.bytes_read()) {}

FileSource::~FileSource() = default;

void FileSource::open(const Context& context) {
    if (context.replica != 0) return;
    reader_ = std::make_unique<LineReader>(path_, text_options_, keep_all_text_);
    malformed_ = std::make_unique<MalformedHandler>(malformed_options_, context.run);
    position_ = end_ = nullptr;
    line_number_ = 0;
    stopped_.store(false, std::memory_order_relaxed);
}

bool FileSource::blocks() const noexcept {
    if (input_may_block(path_)) return true;
    const auto letters = dead_letter_file_of(malformed_options_);
    return letters && file_may_block(letters->path, StandardStream::output);
}

std::vector<FileUse> FileSource::files() const {
    std::vector<FileUse> files{{.kind = FileUse::Kind::reads, .path = path_}};
    if (auto letters = dead_letter_file_of(malformed_options_)) files.push_back(*letters);
    return files;
}

FileSource::Refill FileSource::refill() {
    STRID_ASSERT(reader_ != nullptr);
    malformed_->flush();
    if (stopped_.load(std::memory_order_relaxed)) return Refill::stopped;
    const auto status = reader_->read_more(position_, waited_ ? pipe_wait_ms_max : 0);
    position_ = reader_->begin();
    end_ = reader_->end();
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
            return Refill::wait;
        case no_chunk:
            wake_at_ns_ = now_ns() + chunk_retry_ns;
            return Refill::wait;
        case end:
            break;
    }
    return Refill::end;
}

std::uint64_t FileSource::report_cut_off() {
    const char* const data_end = reader_->data_end();
    if (!blocks() || position_ == data_end) return 0;
    const std::string_view text{position_, static_cast<std::size_t>(data_end - position_)};
    const MalformedLine line{name(), line_number_ + 1, "cut off: the run was stopped", text};
    malformed_->report_cut_off(line);
    position_ = end_;
    return malformed_->take_count();
}

std::string_view FileSource::name() const noexcept {
    return path_ == "-" ? std::string_view("standard input") : path_;
}

void FileSource::refuse(std::uint64_t line, std::string_view reason, std::string_view text) {
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
    reader_.reset();
    position_ = end_ = nullptr;
    fraction_done_.store(1, std::memory_order_relaxed);
}

void FileSource::publish_progress() noexcept {
    const ByteReader& bytes = reader_->bytes();
    bytes_read_.store(bytes.bytes_read(), std::memory_order_relaxed);
    if (bytes.size_bytes() == 0) return;
    const double fraction =
        static_cast<double>(bytes.bytes_read()) / static_cast<double>(bytes.size_bytes());
    fraction_done_.store(std::min(fraction, 1.0), std::memory_order_relaxed);
}

}  // namespace strid
