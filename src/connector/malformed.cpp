// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/dead_letter_file.hpp>
#include <strid/engine/connector/malformed_handler.hpp>

namespace strid {

void check_malformed_options(const MalformedOptions& options) {
    if (options.policy == OnMalformed::dead_letter && options.dead_letter_path.empty() &&
        !options.dead_letter) {
        throw GraphError("malformed lines: dead_letter needs a dead_letter_path or a callback");
    }
}

std::optional<FileUse> dead_letter_file_of(const MalformedOptions& options) {
    if (options.policy != OnMalformed::dead_letter) return std::nullopt;
    if (!options.dead_letter_path.empty()) {
        return FileUse{.kind = FileUse::Kind::writes,
                       .path = options.dead_letter_path,
                       .beside = options.writing == Writing::whole};
    }
    const auto* const file = options.dead_letter.target<DeadLetterFile>();
    if (file == nullptr) return std::nullopt;
    return file->use();
}

/// The file of one source with the rows that are not in it yet: what is left of them when the run
/// ends belongs to it.
class MalformedHandler::Letters final : public RunScope::Result {
  public:
    explicit Letters(const MalformedOptions& options)
        : file_(std::make_shared<OutputFile>(options.dead_letter_path, options.writing)) {}

    void open(RunScope* run) {
        if (run != nullptr) return file_->open_until_commit(*run);
        file_->open();
        in_use_ = true;
    }
    void report(const MalformedLine& line) {
        append_dead_letter(rows_, line);
        if (rows_.size() >= OutputFile::buffer_bytes) flush();
    }
    void flush() {
        if (rows_.empty()) return;
        file_->append(rows_);
        rows_.clear();
    }
    void begin_snapshot(std::uint64_t number) {
        flush();
        file_->begin_snapshot(number);
    }
    /// Without a run: the end.
    void close() {
        flush();
        if (std::exchange(in_use_, false)) file_->close();
    }
    void commit() override { flush(); }
    void discard() noexcept override {}

  private:
    std::shared_ptr<OutputFile> file_;
    std::string rows_;
    bool in_use_ = false;
};

MalformedHandler::MalformedHandler(MalformedOptions options, RunScope* run)
    : options_(std::move(options)), run_(run) {
    if (options_.policy != OnMalformed::dead_letter) return;
    if (!options_.dead_letter_path.empty()) {
        letters_ = std::make_shared<Letters>(options_);
        if (run != nullptr) run->add(letters_);  // before its file: committed in this order
        letters_->open(run);
    }
    if (run == nullptr) return;
    if (const auto* const file = options_.dead_letter.target<DeadLetterFile>()) file->open(*run);
}

MalformedHandler::~MalformedHandler() {
    if (!letters_ || run_ != nullptr) return;
    try {
        letters_->close();
    } catch (const std::exception&) {
        // finish() of the source flushes and reports; this is the end of a run cut short.
    }
}

void MalformedHandler::report(const MalformedLine& line) {
    if (is_silent_) return;
    if (options_.policy == OnMalformed::stop) {
        throw InputOutputError(
            fmt::format("{}:{}: {}", excerpt(line.file, 4096), line.line, line.reason));
    }
    hand_on(line);
}

void MalformedHandler::report_cut_off(const MalformedLine& line) {
    hand_on(line);
}

void MalformedHandler::hand_on(const MalformedLine& line) {
    if (run_ != nullptr) remember(line);
    ++count_;
    if (options_.policy != OnMalformed::dead_letter) return;
    if (options_.dead_letter) options_.dead_letter(line);
    if (letters_) letters_->report(line);
}

// Into texts that are there: a line that is refused costs no allocation.
void MalformedHandler::remember(const MalformedLine& line) {
    RefusedLine& one = last_[count_ % last_.size()];
    one.file.assign(line.file.substr(0, RefusedLines::text_bytes_max));
    one.line = line.line;
    one.reason.assign(line.reason);
    one.text.assign(line.text.substr(0, RefusedLines::text_bytes_max));
}

void MalformedHandler::flush() {
    if (letters_) letters_->flush();
}

void MalformedHandler::begin_snapshot(std::uint64_t number) {
    if (letters_) letters_->begin_snapshot(number);
    if (const auto* const file = options_.dead_letter.target<DeadLetterFile>()) {
        file->begin_snapshot(number);
    }
}

std::uint64_t MalformedHandler::take_count() noexcept {
    const std::uint64_t count = std::exchange(count_, 0);
    if (run_ == nullptr) return count;
    const std::uint64_t first = count - std::min<std::uint64_t>(count, last_.size());
    for (std::uint64_t i = first; i < count; ++i) {
        run_->refused_lines().add(last_[i % last_.size()]);
    }
    return count;
}

}  // namespace strid
