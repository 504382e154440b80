// SPDX-License-Identifier: Apache-2.0
#include "merged_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/connector/dead_letter_file.hpp>
#include <strid/state/bytes.hpp>

namespace strid::tool {

MergedTables::MergedTables(const WindowJob& job) : idle_(job.progress.idle) {
    if (!job.merge_inputs) {
        inputs_.emplace_back(job);
        places_.resize(1);
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
    places_.resize(inputs_.size());
}

void MergedTables::on(const Opened& opened) {
    awaited_ = 0;
    may_wait_ = false;
    for (Input& input : inputs_) {
        input.ahead.forget();
        input.is_finished = input.is_empty = input.is_held = false;
        input.time = EventTime::earliest();
        input.silent_since_ns = 0;
        input.to_drop = 0;
        input.source.on(opened);
    }
    note_places();
}

void MergedTables::on(Restored restored) {
    if (places_.size() != inputs_.size()) {
        throw StateError(
            fmt::format("the snapshot is of {} inputs that are merged, and now there are {}",
                        places_.size(), inputs_.size()));
    }
    for (std::size_t i = 0; i != inputs_.size(); ++i) {
        Input& input = inputs_[i];
        const Place& place = places_[i];
        input.time = place.time;
        input.silent_since_ns = place.silent_since_ns;
        input.ahead_from_bytes = place.from_bytes;
        input.emitted = input.to_drop = place.emitted;
        input.source.state() = std::tie(place.file, place.to_bytes, place.journal);
        input.source.go_on_with_times(place.times);
        if (place.from_bytes != place.to_bytes) input.source.emit_again_from(place.from_bytes);
        input.source.on(restored);
    }
}

// While an input passes rows, those that it will emit again stand where they stood.
void MergedTables::note_places() noexcept {
    for (std::size_t i = 0; i != inputs_.size(); ++i) {
        Input& input = inputs_[i];
        const auto [file, to_bytes, journal] = input.source.state();
        const bool reads_on = journal.journal != 0 || !journal.message.empty();
        const bool has_rows = !input.ahead.empty() || input.source.is_passing();
        places_[i] = {.file = file,
                      .from_bytes = has_rows ? input.ahead_from_bytes : to_bytes,
                      .to_bytes = to_bytes,
                      .emitted = has_rows ? input.emitted : 0,
                      .time = input.time,
                      .silent_since_ns = input.silent_since_ns,
                      .journal = journal,
                      .times = reads_on ? input.source.time_place() : TimeReader::Place{}};
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

void MergedTables::begin_poll() noexcept {
    looked_ns_ = now_ns();
    is_passing_ = false;
    for (Input& input : inputs_) input.is_empty = false;
}

void MergedTables::look_into(Input& input, bool may_wait) {
    constexpr std::size_t rows_ahead = 128;
    input.ahead.forget();
    if (!may_wait) input.source.do_not_wait();
    if (!input.source.is_passing()) {
        input.ahead_from_bytes = std::get<1>(input.source.state());
        input.emitted = 0;
    }
    const SourceStatus found = input.source.poll(input.ahead, rows_ahead);
    malformed_ += input.ahead.take_malformed();
    for (; input.to_drop != 0 && !input.ahead.empty(); --input.to_drop) input.ahead.pop();
    input.is_finished = found == SourceStatus::finished;
    input.is_empty = input.ahead.empty();
    input.is_held = found == SourceStatus::held;
    is_passing_ = is_passing_ || (input.is_empty && found == SourceStatus::more);
    if (!input.is_empty) {
        input.time = std::max(input.time, input.ahead.back().time);
        input.silent_since_ns = 0;
    } else if (input.silent_since_ns == 0 && !input.is_held) {
        input.silent_since_ns = looked_ns_;
    }
}

SourceStatus MergedTables::read_ahead() {
    bool is_any_open = false;
    bool is_any_held = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        Input& input = inputs_[i];
        if (!input.ahead.empty() || input.is_finished) continue;
        if (!input.is_empty) look_into(input, may_wait_ && i == awaited_);
        if (is_passing_) return SourceStatus::more;
        if (!input.is_empty || input.is_finished) continue;
        if (!is_any_open) awaited_ = i;
        is_any_open = true;
        is_any_held = is_any_held || input.is_held;
    }
    const bool has_rows = find_first();
    if (!has_rows && !is_any_open) return SourceStatus::finished;
    if (has_rows) {
        const EventTime first = inputs_[first_].ahead.front().time;
        if (!is_any_open || first <= bound(first)) return SourceStatus::more;
    }
    may_wait_ = true;
    return has_rows || is_any_held ? SourceStatus::held : SourceStatus::idle;
}

EventTime MergedTables::bound(EventTime first) noexcept {
    EventTime least = EventTime::latest();
    for (Input& input : inputs_) {
        if (!input.is_empty || input.is_finished) continue;
        // One that never had a row is as far as what waits for it.
        if (input.time == EventTime::earliest() && idle_ != Duration::zero()) input.time = first;
        least = std::min(least, input.least(looked_ns_, idle_));
    }
    return least;
}

bool MergedTables::find_first() noexcept {
    const Input* found = nullptr;
    for (const Input& input : inputs_) {
        if (input.ahead.empty()) continue;
        if (found == nullptr || input.ahead.front().time < found->ahead.front().time) {
            found = &input;
        }
    }
    if (found != nullptr) first_ = static_cast<std::size_t>(found - inputs_.data());
    return found != nullptr;
}

}  // namespace strid::tool
