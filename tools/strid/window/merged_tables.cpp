// SPDX-License-Identifier: Apache-2.0
#include "merged_tables.hpp"

#include <algorithm>

#include <strid/connector/dead_letter_file.hpp>

namespace strid::tool {

MergedTables::MergedTables(const WindowJob& job) {
    if (!job.merge_inputs) {
        inputs_.emplace_back(job);
        return;
    }
    WindowJob one = job;
    if (!job.csv.dead_letter_path.empty()) {  // one file for all
        one.csv.dead_letter = DeadLetterFile(job.csv.dead_letter_path, job.csv.dead_letters);
        one.csv.dead_letter_path.clear();
    }
    for (const std::string& path : job.inputs) {
        one.inputs = {path};
        inputs_.emplace_back(one);
    }
}

void MergedTables::on(const Opened& opened) {
    awaited_ = 0;
    for (Input& input : inputs_) {
        input.ahead.forget();
        input.is_finished = false;
        input.source.on(opened);
    }
}

void MergedTables::on(Stopped stopped) noexcept {
    for (Input& input : inputs_) input.source.on(stopped);
}

bool MergedTables::blocks() const noexcept {
    return std::any_of(inputs_.begin(), inputs_.end(),
                       [](const Input& input) { return input.source.blocks(); });
}

double MergedTables::fraction_done() const noexcept {
    double sum = 0;
    for (const Input& input : inputs_) {
        const double fraction = input.source.fraction_done();
        if (fraction < 0) return fraction;
        sum += fraction;
    }
    return sum / static_cast<double>(inputs_.size());
}

std::uint64_t MergedTables::bytes_read() const noexcept {
    std::uint64_t sum = 0;
    for (const Input& input : inputs_) sum += input.source.bytes_read();
    return sum;
}

std::vector<FileUse> MergedTables::files() const {
    std::vector<FileUse> files = inputs_.front().source.files();
    for (std::size_t i = 1; i < inputs_.size(); ++i) {
        for (FileUse& file : inputs_[i].source.files()) {
            if (file.kind == FileUse::Kind::reads) files.push_back(std::move(file));
        }
    }
    return files;
}

SourceStatus MergedTables::read_ahead() {
    constexpr std::size_t rows_ahead = 128;
    auto status = SourceStatus::finished;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        Input& input = inputs_[i];
        if (input.ahead.empty() && !input.is_finished) {
            input.ahead.forget();
            const SourceStatus found = input.source.poll(input.ahead, rows_ahead);
            input.is_finished = found == SourceStatus::finished;
            malformed_ += input.ahead.take_malformed();
            if (input.ahead.empty() && !input.is_finished) {
                awaited_ = i;
                return found;
            }
        }
        if (!input.ahead.empty()) status = SourceStatus::more;
    }
    return status;
}

RowsAhead& MergedTables::earliest() noexcept {
    Input* earliest = nullptr;
    for (Input& input : inputs_) {
        if (input.ahead.empty()) continue;
        if (earliest == nullptr || input.ahead.front().time < earliest->ahead.front().time) {
            earliest = &input;
        }
    }
    return earliest->ahead;
}

}  // namespace strid::tool
