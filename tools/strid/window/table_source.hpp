// SPDX-License-Identifier: Apache-2.0
//
// The rows of a table: CSV, or one JSON object a line. A plain CSV row is read in one pass over the
// columns that are asked for; whatever is not plain (quotes, spaces, faults) goes the careful way
// of CsvSource, with the same values. Malformed rows of either kind follow the same policy.
//
// Threads and replicas as in FileSource.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/csv_source.hpp>
#include <strid/engine/connector/json_cutter.hpp>
#include <strid/engine/connector/json_row.hpp>

#include "plain_fields.hpp"
#include "table_row.hpp"
#include "window_graph.hpp"

namespace strid::tool {

/// The part of a source that does not depend on the layout of rows.
class TableInput : public CsvSource {
  protected:
    /// Throws GraphError for options that contradict each other.
    explicit TableInput(const WindowJob& job);

    /// A column up to the last that is asked for, as a scan from left to right comes upon it.
    struct Step {
        enum class Target : std::uint8_t {
            nothing,
            key,
            time,
            number,
            text,
            number_and_text,
            in_dialect  // a value whose words or numbers are written in a way of their own
        };
        Target target;
        std::size_t index;           // of the key or the value
        std::size_t text_index = 0;  // of the value that has the text of a number
    };

    /// The format, once the input has shown which: unknown while there are blank lines only.
    [[nodiscard]] TableFormat format() {
        return format_ == TableFormat::unknown ? look_at_text() : format_;
    }
    [[nodiscard]] const TablePlan& plan() const noexcept { return *plan_; }
    [[nodiscard]] TimeReader& times() noexcept { return times_; }
    /// Empty: rows cannot be scanned, or not yet.
    [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }
    /// After the header: settles steps().
    void plan_steps();
    void begin_input() override;

    /// next_row(), which also leaves line() and the header where late rows are written.
    Row next_csv_row();
    /// While the format is unknown: all that was read. A header is not blank, nor is an object.
    Row pass_blank_lines();
    /// Takes the object at position_; on `ready` json() has its columns.
    Row next_json_row();
    /// Of the row at position_ there is no more, or there would be too much.
    void refuse_partial_row();
    /// Refuses what the input of JSON ends in.
    void finish_json();
    /// The row that was taken as it stands in the input, where late rows are written.
    [[nodiscard]] std::string_view line() const noexcept { return line_; }
    [[nodiscard]] const JsonRow& json() const noexcept { return json_; }
    /// Before a poll: of the rows that are gone nothing is kept.
    void forget_lines() { copies_.forget(); }
    /// Which values a row of JSON had.
    void note_json_values(std::uint32_t present) noexcept {
        if (has_json_rows_ && (present & ~json_values_seen_) == 0) return;
        has_json_rows_ = true;
        json_values_seen_ |= present;
        plan_->has_json_rows.store(true, std::memory_order_relaxed);
        plan_->json_values_seen.store(json_values_seen_, std::memory_order_relaxed);
    }
    /// Refuses the line of next_json_row() because of a column.
    void refuse_member(std::size_t column, detail::CsvFault fault);

  private:
    TableFormat look_at_text();
    void refuse_json(std::string_view reason);
    Row checked(Row found);
    void keep_header(std::string_view header);
    /// Leaves line() for a row that is read in place: of a text that has `changed` in it a copy.
    void keep_line(std::string_view text, std::string_view changed);

    std::shared_ptr<const TablePlan> plan_;
    TimeReader times_;
    TableFormat asked_format_;
    TableFormat format_;
    JsonCutter cutter_;
    JsonRow json_;
    std::string_view json_line_;
    bool has_json_rows_ = false;
    std::uint32_t json_values_seen_ = 0;
    std::string json_as_it_stood_;  // where refused lines are written: read() changes escapes
    std::shared_ptr<LateFile> late_;
    std::string_view line_;
    LineCopies copies_;
    std::vector<Step> steps_;
};

template <class Table>
class TableSource : public TableInput {
  public:
    using record_type = TableRow<Table>;

    explicit TableSource(const WindowJob& job) : TableInput(job) {}

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        forget_lines();
        return poll_rows<record_type, true>(emit, budget, Reading{this});
    }

  private:
    struct Reading {
        TableSource* source;

        Row operator()(record_type& row) const {
            if (!source->steps().empty() && source->scan_row(row)) return Row::ready;
            switch (source->format()) {
                case TableFormat::json:
                    return source->read_json_row(row);
                case TableFormat::csv:
                    return source->read_csv_row(row);
                default:
                    return source->pass_blank_lines();
            }
        }
        void refuse_partial() const { source->refuse_partial_row(); }
        bool pass_partial_at_stop() const {
            return source->format() == TableFormat::csv && source->pass_open_quote_at_stop();
        }
        void finish() const { source->finish_json(); }
    };

    Row read_csv_row(record_type& row) {
        const Row found = next_csv_row();
        if (found != Row::ready) return found;
        if (steps().empty()) plan_steps();
        std::size_t faulty = 0;
        const auto fault = read_table_row(
            plan(), times(), row,
            [this](std::size_t column) {
                return column < plan().keys.size() ? text_of(column) : value_of(column);
            },
            number_format(), faulty);
        if constexpr (Table::keeps_lines) row.line = line();
        if (fault == nullptr) {
            times().take();
            return found;
        }
        refuse_field(faulty, fault);
        return Row::none;
    }

    Row read_json_row(record_type& row) {
        const Row found = next_json_row();
        if (found != Row::ready) return found;
        std::size_t faulty = 0;
        const auto fault = read_table_row(
            plan(), times(), row,
            [this](std::size_t column) {
                const std::string_view text = json().text(column);
                return column < plan().keys.size() ? text : without_null(text);
            },
            options().non_finite, faulty);
        if constexpr (Table::keeps_lines) row.line = line();
        if (fault == nullptr) {
            times().take();
            note_json_values(row.present());
            return found;
        }
        refuse_member(faulty, fault);
        return Row::none;
    }

    // One pass over a plain row. False, with nothing consumed, when read_csv_row() has to look.
    bool scan_row(record_type& row) {
        const char* field = position_;
        if (*field == '\r' || *field == '\n' || is_comment(field)) return false;
        FieldEnds ends(field, options().delimiter);
        const char* end = nullptr;
        row.forget_values();
        const Step* const last = &steps().back();
        for (const Step* step = &steps().front();; ++step) {
            if (*field == '"') return false;
            end = ends.next();
            const char* text_end = end;
            if (*end == '\n') {
                if (step != last) return false;
                if (end != field && end[-1] == '\r') --text_end;
            }
            if (!scan_field(field, text_end, *step, row)) return false;
            field = end + 1;
            if (step == last) break;
        }
        std::size_t fields = steps().size();
        for (; *end != '\n'; ++fields) {
            if (*field == '"') return false;
            end = ends.next();
            field = end + 1;
        }
        if (fields != fields_per_row() && fields_per_row() != 0) return false;
        const auto length = static_cast<std::size_t>(end - position_);
        if (length > line_bytes_max() || is_header(position_, length)) return false;
        if constexpr (Table::keeps_lines) row.line = {position_, length};
        ++line_number_;
        position_ += length + 1;
        times().take();
        return true;
    }

    [[gnu::always_inline]] bool scan_field(const char* begin, const char* end, const Step& step,
                                           record_type& row) {
        const std::string_view text(begin, static_cast<std::size_t>(end - begin));
        switch (step.target) {
            case Step::Target::nothing:
                return true;
            case Step::Target::key: {
                if constexpr (!Table::is_wide) {
                    row.key = text;
                    return true;
                }
                std::size_t left = step.index;
                visit_key(row.key, plan().keys.size(), [&](std::string_view& key) {
                    if (left-- == 0) key = text;
                });
                return true;
            }
            case Step::Target::time:
                return times().scan(begin, end, row.time) ||
                       times().read(text, row.time) == nullptr;
            case Step::Target::number:
            case Step::Target::number_and_text: {
                if (text.empty()) return true;  // missing
                TableNumber number;
                if (!read_short_number(begin, end, number) && !scan_number(begin, end, number)) {
                    return false;
                }
                row.set_number(step.index, number);
                if (step.target == Step::Target::number_and_text) [[unlikely]]
                    row.set_text(step.text_index, text);
                return true;
            }
            case Step::Target::in_dialect:
                return scan_in_dialect(text, step.index, row);
            default:
                if (!text.empty()) row.set_text(step.index, text);
                return true;
        }
    }

    [[gnu::noinline]] bool scan_in_dialect(std::string_view text, std::size_t value,
                                           record_type& row) const {
        text = without_null(text);
        if (plan().values[value].is_text) {
            if (!text.empty()) row.set_text(value, text);
            return true;
        }
        if (detail::trimmed(text).empty()) return true;
        TableNumber number;
        if (read_table_number(text, number, number_format()) != nullptr) return false;
        row.set_number(value, number);
        return true;
    }

    [[gnu::noinline]] static bool scan_number(const char* p, const char* end,
                                              TableNumber& number) noexcept {
        number.kind = ValueKind::integer;
        if (read_whole_number(p, end, number.value.integer)) return true;
        const std::string_view text(p, static_cast<std::size_t>(end - p));
        if (text.substr(1).find_first_not_of("0123456789") == std::string_view::npos) {
            return read_table_number(text, number, NonFinite::reject) == nullptr;
        }
        number.kind = ValueKind::decimal;
        return detail::scan_floating(p, end, number.value.decimal) && p == end;
    }
};

}  // namespace strid::tool
