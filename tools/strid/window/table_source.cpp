// SPDX-License-Identifier: Apache-2.0
#include "table_source.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/base/error.hpp>
#include <strid/connector/transport.hpp>

namespace strid::tool {

namespace {

bool is_blank(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::string_view without_packing(std::string_view path) noexcept {
    for (const std::string_view packed : {".gz", ".zst", ".xz", ".bz2"}) {
        if (path.ends_with(packed)) path.remove_suffix(packed.size());
    }
    return path;
}

/// A key that is null is as an empty field, but one that is nowhere may be a name misspelt.
std::vector<JsonColumn> members_of(const TablePlan& plan) {
    std::vector<JsonColumn> members;
    for (const std::string& key : plan.keys) members.push_back({key, true, false});
    for (const std::string& time : plan.times) members.push_back({time, false, false});
    for (const ValueColumn& value : plan.values) members.push_back({value.name, true, true});
    return members;
}

}  // namespace

TableFormat format_by_name(std::string_view path) noexcept {
    path = without_packing(path);
    for (const std::string_view ending : {".json", ".jsonl", ".ndjson"}) {
        if (path.ends_with(ending)) return TableFormat::json;
    }
    const bool is_csv = path.ends_with(".csv") || is_named_tsv(path);
    return is_csv ? TableFormat::csv : TableFormat::unknown;
}

bool is_named_tsv(std::string_view path) noexcept {
    path = without_packing(path);
    return path.ends_with(".tsv") || path.ends_with(".tab");
}

// A row that nothing is read from still has a first column, which is not looked at.
TableSource::TableSource(const WindowJob& job)
    : CsvSource(job.inputs, job.csv, std::max<std::size_t>(job.plan->columns(), 1)),
      plan_(job.plan),
      times_(plan_->format),
      thousands_(job.thousands),
      asked_format_(job.format),
      format_(job.format),
      objects_(members_of(*job.plan), job.csv.on_malformed == OnMalformed::dead_letter),
      late_(job.late),
      memory_(plan_->values.size() + (late_ ? 1 : 0)) {
    name_options_as_command_line();
}

void TableSource::begin_input() {
    CsvSource::begin_input();
    format_ = asked_format_ != TableFormat::unknown ? asked_format_ : format_by_name(path());
    objects_.begin_input();
    // Messages are lines: the last of one must not wait for the next.
    if (reader_ && format_ != TableFormat::csv && !is_transport_address(path())) {
        const bool is_json = format_ == TableFormat::json;
        reader_->choose_region_end(is_json ? &JsonCutter::region_end_of_json
                                           : &JsonCutter::region_end);
    }
    steps_.clear();
    parsers_.forget_pattern();
    times_.begin_input(path());
}

TableFormat TableSource::look_at_text() {
    const char* const first = std::find_if_not(position_, end_, is_blank);
    if (first == end_) return format_;
    const std::string_view text(first, static_cast<std::size_t>(end_ - first));
    const bool is_json = *first == '{' || JsonCutter::region_end(text) == '}';
    return format_ = is_json ? TableFormat::json : TableFormat::csv;
}

CsvSource::Row TableSource::pass_blank_lines() {
    line_number_ += static_cast<std::uint64_t>(std::count(position_, end_, '\n'));
    position_ = end_;
    return Row::none;
}

void TableSource::plan_steps() {
    struct Wanted {
        std::size_t column;
        Step step;
    };
    std::vector<Wanted> wanted;
    std::size_t field = 0;
    const bool is_dialect =
        options().decimal_comma || !options().null_words.empty() || !thousands_.empty();
    const auto needed = [&](Step::Target target, std::size_t index) {
        wanted.push_back({columns()[field++], {target, index}});
    };
    const auto key = plan_->keys.size() == 1 ? Step::Target::key : Step::Target::key_part;
    for (std::size_t i = 0; i < plan_->keys.size(); ++i) needed(key, i);
    const auto time = plan_->times.size() == 1 ? Step::Target::time : Step::Target::time_part;
    for (std::size_t i = 0; i < plan_->times.size(); ++i) needed(time, i);
    for (std::size_t i = 0; i < plan_->values.size(); ++i) {
        needed(is_dialect                 ? Step::Target::in_dialect
               : plan_->values[i].is_text ? Step::Target::text
                                          : Step::Target::number,
               i);
    }
    std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
        return std::pair(a.column, a.step.target) < std::pair(b.column, b.step.target);
    });
    for (const Wanted& one : wanted) {
        if (one.column < steps_.size()) {
            Step& same = steps_.back();
            if (same.target != Step::Target::number || one.step.target != Step::Target::text) {
                steps_.clear();  // asked for twice: such rows go the careful way
                return;
            }
            same.target = Step::Target::number_and_text;
            same.text_index = one.step.index;
            continue;
        }
        steps_.resize(one.column);  // those that are passed over
        steps_.push_back(one.step);
    }
}

void TableSource::keep_line(std::string_view text, std::string_view changed) {
    if (!late_) return;
    line_ = text;
    is_line_copied_ = text.find(changed) != std::string_view::npos;
    if (is_line_copied_) line_copy_ = text;
}

template <class TextOf>
detail::CsvFault TableSource::read_columns_of(TableRow& row, TextOf&& text_of,
                                              const NumberFormat& numbers, std::size_t& faulty) {
    std::size_t column = 0;
    for (; column != plan_->keys.size(); ++column) key_[column] = text_of(column);
    row.key = key_[0];
    if (const std::size_t times = plan_->times.size(); times != 0) {
        faulty = column;
        for (std::size_t i = 0; i != times; ++i) time_parts_[i] = text_of(column++);
        const auto fault =
            times == 1 ? times_.read(time_parts_[0], row.time) : read_time_parts(row.time);
        if (fault != nullptr) return fault;
    }
    for (std::size_t i = 0; i < plan_->values.size(); ++i) {
        faulty = column;
        const std::string_view text = text_of(column++);
        if (plan_->values[i].is_text) {
            row.set_text_or_missing(i, text);
            continue;
        }
        row.forget(i);
        if (detail::trimmed(text).empty()) continue;
        TableNumber number;
        const auto fault = read_number(text, numbers, number);
        if (fault != nullptr) return fault;
        row.set_number(i, number);
    }
    return nullptr;
}

detail::CsvFault TableSource::read_number(std::string_view text, const NumberFormat& format,
                                          TableNumber& number) {
    if (!thousands_.empty() && without_thousands(text, thousands_, number_text_)) {
        text = number_text_;
    }
    return read_table_number(text, number, format);
}

detail::CsvFault TableSource::read_time_parts(EventTime& time) {
    time_text_.clear();
    for (std::size_t i = 0; i != plan_->times.size(); ++i) {
        if (i != 0) time_text_ += ' ';
        time_text_ += detail::trimmed(time_parts_[i]);
    }
    return times_.read(time_text_, time);
}

std::string TableSource::fault_of_time(detail::CsvFault fault) const {
    return fmt::format("time '{}': {}: \"{}\"", fmt::join(plan_->times, ","), fault,
                       excerpt(time_text_));
}

CsvSource::Row TableSource::read_csv_row(TableRow& row) {
    const Row found = next_csv_row();
    if (found != Row::ready) return found;
    if (steps_.empty() && options().escape == '\0') plan_steps();
    std::size_t faulty = 0;
    const auto fault = read_columns_of(
        row,
        [this](std::size_t column) {
            return column < plan_->keys.size() ? text_of(column) : value_of(column);
        },
        number_format(), faulty);
    if (fault != nullptr) {
        if (is_time_part(faulty)) {
            refuse_row(fault_of_time(fault));
        } else {
            refuse_field(faulty, fault);
        }
        return Row::none;
    }
    times_.take();
    complete(row);
    return found;
}

CsvSource::Row TableSource::read_json_row(TableRow& row) {
    const Row found = next_json_row();
    if (found != Row::ready) return found;
    std::size_t faulty = 0;
    const auto fault = read_columns_of(
        row,
        [this](std::size_t column) {
            const std::string_view text = objects_.text_of(column);
            return column < plan_->keys.size() ? text : without_null(text);
        },
        options().non_finite, faulty);
    if (fault != nullptr) {
        if (is_time_part(faulty)) {
            objects_.refuse(*this, fault_of_time(fault));
        } else {
            objects_.refuse_column(*this, faulty, fault);
        }
        return Row::none;
    }
    times_.take();
    complete(row);
    note_json_values(row);
    return found;
}

// The line, where reading has changed it, and the key of several columns.
void TableSource::copy_texts(TableRow& row) {
    const std::size_t columns = plan_->keys.size();
    std::size_t key_bytes = 0;
    if (columns > 1) {
        for (std::size_t i = 0; i != columns; ++i)
            key_bytes += sizeof(KeyPartLength) + key_[i].size();
    }
    const std::size_t line_bytes = is_line_copied_ ? line_copy_.size() : 0;
    char* to = memory_.behind_row(key_bytes + line_bytes);
    row.fields = memory_.row();
    const auto put = [&to](const void* from, std::size_t size) {
        if (size != 0) std::memcpy(to, from, size);
        to += size;
    };
    if (is_line_copied_) {
        line_ = {to, line_bytes};
        put(line_copy_.data(), line_bytes);
        is_line_copied_ = false;
    }
    if (columns < 2) return;
    row.key = {to, key_bytes};
    for (std::size_t i = 0; i != columns; ++i) {
        const auto length = static_cast<KeyPartLength>(key_[i].size());
        put(&length, sizeof length);
        put(key_[i].data(), length);
    }
}

CsvSource::Row TableSource::next_csv_row() {
    char* const begin = position_;
    if (!late_) return checked(next_row());
    const bool awaits_header = !is_header_done();
    const std::string header = awaits_header ? std::string(begin, end_) : std::string{};
    const Row found = next_row();
    if (found == Row::partial) return found;
    const auto length = static_cast<std::size_t>(position_ - begin);
    const char escape = options().escape;
    keep_line({begin, length - 1}, escape == '\0' ? "\"\"" : std::string_view(&escape, 1));
    if (awaits_header && is_header_done()) keep_header(std::string_view(header).substr(0, length));
    return checked(found);
}

// A ragged row may lack what it cannot do without.
CsvSource::Row TableSource::checked(Row found) {
    if (found != Row::ready || !options().ragged) return found;
    const std::size_t needed = plan_->keys.size() + plan_->times.size();
    for (std::size_t i = 0; i < needed; ++i) {
        if (has_field(i)) continue;
        refuse_row(i < plan_->keys.size() ? "the row ends before its key"
                                          : "the row ends before its time");
        return Row::none;
    }
    return found;
}

// The file of late rows has one header.
void TableSource::keep_header(std::string_view header) {
    const auto without_end = [](std::string_view line) {
        while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
        return line;
    };
    const std::string kept = late_->keep_header(header);
    if (without_end(kept) != without_end(header)) {
        throw InputOutputError(fmt::format(
            "{}: its header is another than that of the inputs before it, and --late has room for "
            "one only: {}",
            excerpt(path(), 4096), excerpt(without_end(header), 200)));
    }
}

CsvSource::Row TableSource::next_json_row() {
    const Row found = objects_.cut(*this);
    if (found != Row::ready) return found;
    keep_line(objects_.text(), "\\");
    return objects_.read(*this);
}

void TableSource::refuse_partial_row() {
    if (format_ == TableFormat::json) return finish_json();
    refuse_open_quote();
}

void TableSource::finish_json() {
    if (format_ == TableFormat::json) objects_.refuse_rest(*this);
}

void TableSource::note_json_values(const TableRow& row) noexcept {
    std::uint32_t present = 0;
    for (std::size_t i = 0; i != plan_->values.size(); ++i)
        present |= std::uint32_t{row.has(i)} << i;
    if (has_json_rows_ && (present & ~json_values_seen_) == 0) return;
    has_json_rows_ = true;
    json_values_seen_ |= present;
    plan_->has_json_rows.store(true, std::memory_order_relaxed);
    // Copies that parse ranges see values as well.
    plan_->json_values_seen.fetch_or(json_values_seen_, std::memory_order_relaxed);
}

}  // namespace strid::tool
