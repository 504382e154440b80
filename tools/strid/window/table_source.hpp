// SPDX-License-Identifier: Apache-2.0
//
// The rows of a table: CSV, or one JSON object a line. A plain CSV row is read in one pass over the
// columns that are asked for; whatever is not plain (quotes, spaces, faults) goes the careful way
// of CsvSource, with the same values. Malformed rows of either kind follow the same policy.
//
// Threads and replicas as in FileSource.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/engine/connector/csv_source.hpp>
#include <strid/engine/connector/json_objects.hpp>

#include "row_memory.hpp"
#include "table_row.hpp"
#include "window_graph.hpp"

namespace strid::tool {

class TableSource : public CsvSource {
  public:
    using record_type = TableRow;
    static constexpr SourceTraits traits = with_ranges(CsvSource::traits);

    using CsvSource::do_not_wait;
    using CsvSource::emit_again_from;
    using CsvSource::is_passing;

    using CsvSource::on;
    void on(const TasksWanted& wanted) {
        if (!times_.depend_on_order()) bring_parsers(parsers_, wanted);
    }
    void on(Closed) noexcept { parsers_.close(); }
    void on(const Opened& opened) {
        CsvSource::on(opened);
        begin_input();
    }
    void on(Restored restored) {
        CsvSource::on(restored);
        begin_input();
    }

    /// Throws GraphError for options that contradict each other.
    explicit TableSource(const WindowJob& job);

    [[nodiscard]] TimeReader::Place time_place() const noexcept { return times_.place(); }
    /// Before on(Restored): of the rows before the place, of which a journal reads the first only.
    void go_on_with_times(const TimeReader::Place& place) noexcept { times_before_ = place; }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (is_reading_ahead()) {
            memory_.rest();
        } else {
            memory_.forget();
        }
        Emitted<Emit> emitted{emit, memory_};
        return poll_records<TableRow, true>(emitted, budget, TableRows{*this});
    }
    /// Parses a range, as a copy of the source that has read it.
    void parse(ParsedRows<TableRow>& range) {
        memory_.rest();
        Emitted<ParsedRows<TableRow>> emitted{range, memory_};
        parse_apart<TableRow, true>(range, emitted, TableRows{*this});
    }
    void rest() { memory_.rest(); }
    /// Batches point to rows that have only the chunk of their own memory.
    void take_rows_of(TableSource& other) noexcept { memory_ = std::move(other.memory_); }

  private:
    /// Takes the chunks that rows point into, and gives the pieces with the rows in their place.
    template <class Emit>
    struct Emitted {
        Emit& emit;
        RowMemory& memory;

        bool operator()(TableRow&& row) {
            if (memory.take_change()) [[unlikely]]
                emit.keep_alive(memory.piece());
            const bool goes_on = emit(std::move(row));
            memory.next_row();
            return goes_on;
        }
        void keep_alive(const memory::TextReference& chunk) {
            memory.point_into(chunk);
            emit.keep_alive(memory.piece());
        }
        void ingress_at(std::int64_t ns) { emit.ingress_at(ns); }
        void count_malformed(std::uint64_t count) { emit.count_malformed(count); }
    };

    struct TableRows : CsvRows {
        explicit TableRows(TableSource& table) noexcept : CsvRows(table), source(&table) {}

        Row operator()(TableRow& row) const {
            row.fields = source->memory_.row();
            if (!source->steps_.empty() && source->scan_row(row)) return Row::ready;
            return source->read_carefully(row);
        }
        void begin_input() const { source->begin_input(); }
        void refuse_partial() const { source->refuse_partial_row(); }
        bool pass_partial_at_stop() const {
            return source->format() == TableFormat::csv && source->pass_open_quote_at_stop();
        }
        void end_input() const { source->finish_json(); }
        [[nodiscard]] bool is_settled() const noexcept { return source->is_format_settled(); }
        [[nodiscard]] bool begin_ranges() const {
            if (!is_settled()) return false;
            if (source->format_ == TableFormat::json && !JsonObjects::are_lines(*source)) {
                return false;
            }
            source->parsers_.set_pattern(*source);
            return true;
        }
        template <class Emit>
        [[nodiscard]] static auto& emit_of_parsed(Emit& emitted) noexcept {
            return emitted.emit;
        }
        static constexpr bool reads_ranges = true;
        void begin_apart() const noexcept {
            CsvRows::begin_apart();
            source->objects_.begin_input();
        }
        void behind_parsed(std::uint64_t line) const noexcept {
            source->objects_.skip_to_line(line);
        }
        void skip_to_line(std::uint64_t line) const noexcept { source->skip_to_line(line); }

        TableSource* source;
    };

    /// A column up to the last that is asked for, as a scan from left to right comes upon it.
    struct Step {
        enum class Target : std::uint8_t {
            nothing,
            key,        // the only one
            key_part,   // one of several
            time,       // the only one
            time_part,  // one of several
            number,
            text,
            number_and_text,
            in_dialect  // a value whose words or numbers are written in a way of their own
        };
        Target target;
        std::size_t index;           // of the key, the time or the value
        std::size_t text_index = 0;  // of the value that has the text of a number
    };

    /// The format, once the input has shown which: unknown while there are blank lines only.
    [[nodiscard]] TableFormat format() {
        return format_ == TableFormat::unknown ? look_at_text() : format_;
    }
    TableFormat look_at_text();
    [[nodiscard]] bool is_format_settled() const noexcept {
        if (!plan_->times.empty() && !times_.has_taken()) return false;
        return format_ == TableFormat::json || (format_ == TableFormat::csv && is_settled());
    }
    void skip_to_line(std::uint64_t line) noexcept {
        objects_.skip_to_line(line);
        json_values_seen_ = ~std::uint32_t{0};  // the lines before may have had any
        plan_->json_values_seen.fetch_or(json_values_seen_, std::memory_order_relaxed);
        times_.go_on(times_before_);
    }
    /// Before the first text of each input.
    void begin_input();
    /// After the header: settles steps_.
    void plan_steps();

    /// Takes a row of any kind.
    Row read_carefully(TableRow& row);
    /// One pass over a plain row. False, with nothing consumed, when read_csv_row() has to look.
    bool scan_row(TableRow& row);
    [[gnu::always_inline]] inline bool scan_field(const char* begin, const char* end,
                                                  const Step& step, TableRow& row);
    [[gnu::noinline]] bool scan_in_dialect(std::string_view text, std::size_t value,
                                           const TableRow& row);
    Row read_csv_row(TableRow& row);
    Row read_json_row(TableRow& row);
    /// Fills a fresh row from the texts of its columns: `text_of(i)` of keys, time, values. Null,
    /// or what is wrong with the column `faulty`.
    template <class TextOf>
    detail::CsvFault read_columns_of(TableRow& row, TextOf&& text_of, const NumberFormat& numbers,
                                     std::size_t& faulty);
    /// A value, which may have separators of thousands.
    detail::CsvFault read_number(std::string_view text, const NumberFormat& format,
                                 TableNumber& number);
    /// Of several columns, whose texts are in time_parts_: leaves time_text_.
    detail::CsvFault read_time_parts(EventTime& time);
    /// Whether the column is one of several of the time.
    [[nodiscard]] bool is_time_part(std::size_t column) const noexcept {
        return plan_->times.size() > 1 && column >= plan_->keys.size() &&
               column < plan_->keys.size() + plan_->times.size();
    }
    [[nodiscard]] std::string fault_of_time(detail::CsvFault fault) const;
    /// The row has all its fields: it gets its line where late rows are written, and the texts that
    /// do not stand in the input.
    void complete(TableRow& row) {
        if (plan_->keys.size() > 1 || is_line_copied_) copy_texts(row);
        if (late_) row.set_text(plan_->values.size(), line_);
    }
    void copy_texts(TableRow& row);

    /// next_row(), which also leaves line_ and the header where late rows are written.
    Row next_csv_row();
    /// While the format is unknown: all that was read. A header is not blank, nor is an object.
    Row pass_blank_lines();
    /// Takes the object at position_; on `ready` objects_ has its columns.
    Row next_json_row();
    /// Of the row at position_ there is no more, or there would be too much.
    void refuse_partial_row();
    /// Refuses what the input of JSON ends in.
    void finish_json();
    /// Which values a row of JSON had.
    void note_json_values(const TableRow& row) noexcept;
    Row checked(Row found);
    void keep_header(std::string_view header);
    /// Leaves line_ for a row that is read in place: of a text that has `changed` in it a copy.
    void keep_line(std::string_view text, std::string_view changed);

    std::shared_ptr<const TablePlan> plan_;
    TimeReader times_;
    TimeReader::Place times_before_;
    std::vector<std::string> thousands_;
    std::string number_text_;  // without them
    TableFormat asked_format_;
    TableFormat format_;
    JsonObjects objects_;
    bool has_json_rows_ = false;
    std::uint32_t json_values_seen_ = 0;
    std::shared_ptr<LateFile> late_;
    std::string_view line_;  // the row as it stands in the input, where late rows are written
    std::string line_copy_;  // of a line that reading changes
    bool is_line_copied_ = false;
    std::vector<Step> steps_;  // empty: rows cannot be scanned, or not yet
    std::array<std::string_view, TablePlan::keys_max> key_{};  // of the row at hand, by column
    std::array<std::string_view, TablePlan::times_max> time_parts_{};
    std::string time_text_;  // of the row at hand, where the time has several columns
    RowMemory memory_;
    RangeParsers<TableSource> parsers_;
};

}  // namespace strid::tool
