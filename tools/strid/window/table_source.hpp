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

#include "json_row.hpp"
#include "table_row.hpp"
#include "window_graph.hpp"

namespace strid::tool {

/// What does not depend on how rows are laid out.
class TableInput : public CsvSource {
  public:
    void open(const Context& context);

  protected:
    /// Throws GraphError for options that contradict each other.
    explicit TableInput(const WindowJob& job);

    /// A column that is asked for, as a scan from left to right comes upon it.
    struct Step {
        enum class Target : std::uint8_t { key, time, number, text };
        std::size_t skipped;  // columns between the one before and this
        Target target;
        std::size_t index;  // of the key or the value
    };

    /// The format, once the input has shown which: unknown while there are blank lines only.
    [[nodiscard]] TableFormat format() {
        return format_ == TableFormat::unknown ? look_at_text() : format_;
    }
    [[nodiscard]] const TablePlan& plan() const noexcept { return *plan_; }
    /// Empty: rows cannot be scanned, or not yet.
    [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }
    /// After the header: settles steps().
    void plan_steps();

    /// next_row(), which also leaves line() and the header where late rows are written.
    Row next_csv_row();
    /// Takes the line at position_; on `ready` json() has its columns.
    Row next_json_row();
    /// The row that was taken as it stands in the input, where late rows are written.
    [[nodiscard]] std::string_view line() const noexcept { return line_; }
    [[nodiscard]] const JsonRow& json() const noexcept { return json_; }
    /// Before a poll: of the rows that are gone nothing is kept.
    void forget_lines() { copies_.forget(); }
    /// Refuses the line of next_json_row() because of a column.
    void refuse_member(std::size_t column, detail::CsvFault fault);

    /// Passes a plain field that nobody asked for. False where it is quoted.
    [[nodiscard]] static bool pass_field(const char*& p, char delimiter) noexcept {
        if (*p == '"') return false;
        p = find_csv_field_end(p, delimiter);
        return true;
    }

  private:
    TableFormat look_at_text();
    void refuse_json(std::string_view reason);
    /// Leaves line() for a row that is read in place: of a text that has `changed` in it a copy.
    void keep_line(std::string_view text, std::string_view changed);

    std::shared_ptr<const TablePlan> plan_;
    TableFormat asked_format_;
    TableFormat format_;
    JsonRow json_;
    std::string_view json_line_;
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
        return poll_rows<record_type, true>(emit, budget, [this](record_type& row) {
            if (!steps().empty() && scan_row(row)) return Row::ready;
            return format() == TableFormat::json ? read_json_row(row) : read_csv_row(row);
        });
    }

  private:
    Row read_csv_row(record_type& row) {
        const Row found = next_csv_row();
        if (found != Row::ready) return found;
        if (steps().empty()) plan_steps();
        std::size_t faulty = 0;
        const auto fault = read_table_row(
            plan(), row, [this](std::size_t column) { return text_of(column); },
            options().non_finite, faulty);
        if constexpr (Table::is_wide) row.line = line();
        if (fault == nullptr) return found;
        refuse_field(faulty, fault);
        return Row::none;
    }

    Row read_json_row(record_type& row) {
        const Row found = next_json_row();
        if (found != Row::ready) return found;
        std::size_t faulty = 0;
        const auto fault = read_table_row(
            plan(), row, [this](std::size_t column) { return json().text(column); },
            options().non_finite, faulty);
        if constexpr (Table::is_wide) row.line = line();
        if (fault == nullptr) return found;
        refuse_member(faulty, fault);
        return Row::none;
    }

    // One pass over a plain row. False, with nothing consumed, when read_csv_row() has to look.
    bool scan_row(record_type& row) {
        const char* p = position_;
        const char delimiter = options().delimiter;
        if (*p == '\r' || *p == '\n') return false;
        row.present = 0;
        for (const Step& step : steps()) {
            for (std::size_t skipped = step.skipped; skipped > 0; --skipped) {
                if (!pass_field(p, delimiter) || *p++ == '\n') return false;
            }
            if (!scan_field(p, delimiter, step, row)) return false;
            const bool is_last = &step == &steps().back();
            if (*p == delimiter) {
                if (!is_last) ++p;
            } else {
                if (*p == '\r') ++p;
                if (*p != '\n' || !is_last) return false;
            }
        }
        while (*p != '\n') {
            if (!pass_field(++p, delimiter)) return false;
        }
        const auto length = static_cast<std::size_t>(p - position_);
        if (length > line_bytes_max()) return false;
        if constexpr (Table::is_wide) row.line = {position_, length};
        ++line_number_;
        position_ += length + 1;
        return true;
    }

    /// A whole number in the format's unit. False, with nothing consumed, for any other time.
    bool scan_time(const char*& p, char delimiter, EventTime& time) const noexcept {
        const char* at = p;
        std::int64_t count = 0;
        std::int64_t ns = 0;
        if (!detail::scan_integer(at, count)) return false;
        if (*at != delimiter && *at != '\n') return false;
        if (__builtin_mul_overflow(count, plan().format.unit_ns, &ns)) return false;
        if (!plan().format.misfit.empty()) return false;
        time = EventTime::of_ns(ns);
        p = at;
        return true;
    }

    /// Leaves `p` where the field ends, if it is plain.
    bool scan_field(const char*& p, char delimiter, const Step& step, record_type& row) {
        if (step.target == Step::Target::number) {
            if (*p == delimiter || *p == '\r' || *p == '\n') return true;  // missing
            double number = 0;
            if (!detail::scan_csv_value(p, end_, delimiter, number)) return false;
            row.set_number(step.index, number);
            return true;
        }
        if (step.target == Step::Target::time && scan_time(p, delimiter, row.time)) return true;
        std::string_view text;
        if (!detail::scan_csv_value(p, end_, delimiter, text)) return false;
        switch (step.target) {
            case Step::Target::time:
                return read_time(text, plan().format, row.time) == nullptr;
            case Step::Target::key: {
                std::size_t left = step.index;
                visit_key(row.key, plan().keys.size(), [&](std::string_view& key) {
                    if (left-- == 0) key = text;
                });
                return true;
            }
            default:
                if (!text.empty()) row.set_text(step.index, text);
                return true;
        }
    }
};

}  // namespace strid::tool
