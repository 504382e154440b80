// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/dead_letter_file.hpp>
#include <strid/connector/malformed.hpp>

namespace strid {

void check_malformed_options(const MalformedOptions& options) {
    if (options.policy == OnMalformed::dead_letter && options.dead_letter_path.empty() &&
        !options.dead_letter) {
        throw GraphError("malformed lines: dead_letter needs a dead_letter_path or a callback");
    }
}

MalformedHandler::MalformedHandler(MalformedOptions options) : options_(std::move(options)) {
    if (options_.policy != OnMalformed::dead_letter || options_.dead_letter_path.empty()) return;
    file_ = std::make_unique<OutputFile>(options_.dead_letter_path);
    file_->open();
}

MalformedHandler::~MalformedHandler() {
    try {
        flush();
    } catch (const InputOutputError&) {
        // finish() of the source flushes and reports; this is the end of a run cut short.
    }
}

void MalformedHandler::report(const MalformedLine& line) {
    if (options_.policy == OnMalformed::stop) {
        throw InputOutputError(fmt::format("{}:{}: {}", line.file, line.line, line.reason));
    }
    ++count_;
    if (options_.policy != OnMalformed::dead_letter) return;
    if (options_.dead_letter) options_.dead_letter(line);
    if (!file_) return;
    append_dead_letter(rows_, line);
    if (rows_.size() >= OutputFile::buffer_bytes) flush();
}

void MalformedHandler::flush() {
    if (rows_.empty()) return;
    file_->append(rows_);
    rows_.clear();
}

std::uint64_t MalformedHandler::take_count() noexcept {
    return std::exchange(count_, 0);
}

}  // namespace strid
