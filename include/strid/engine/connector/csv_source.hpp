// SPDX-License-Identifier: Apache-2.0
//
// The part of a CSV source that does not depend on the record: the header, rows cut into fields,
// and the texts of errors. Derived: CsvFile<T>, or a source whose record is known at run time only.
// Threads as in FileSource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/connector/csv_options.hpp>
#include <strid/connector/csv_value.hpp>
#include <strid/engine/connector/csv_row.hpp>
#include <strid/engine/connector/file_source.hpp>

namespace strid {

class CsvSource : public FileSource {
  public:
    using FileSource::on;
    void on(const Opened& opened) { begin(opened.context); }
    void on(Restored restored) {
        FileSource::on(restored);
        begin_input();
    }

  protected:
    /// As on(const Opened&), for a reader outside a graph.
    void begin(const Context& context);
    /// Throws GraphError for options that do not fit a record of `fields`.
    CsvSource(std::vector<std::string> paths, CsvOptions options, std::size_t fields);
    CsvSource(const CsvSource&);
    CsvSource(CsvSource&&) noexcept;
    ~CsvSource();

    /// The base of the formats of derived sources, for what they have in common. A format of
    /// another text hides `refuse_partial()`, `pass_partial_at_stop()` and `end_input()`.
    struct CsvRows : RowsOfLines {
        explicit CsvRows(CsvSource& source) noexcept : csv(&source) {}

        static constexpr bool joins_lines = true;
        void begin_input() const { csv->begin_input(); }
        void begin_text() const noexcept { csv->pass_byte_order_mark(); }
        void refuse_partial() const { csv->refuse_open_quote(); }
        [[nodiscard]] bool pass_partial_at_stop() const { return csv->pass_open_quote_at_stop(); }
        [[nodiscard]] bool is_settled() const noexcept { return csv->is_settled(); }
        [[nodiscard]] bool takes_parsed() const noexcept {
            return csv->line_number_ >= csv->looked_at_line_;
        }
        void forget_partial() const noexcept { csv->cutter_.forget(); }
        void begin_apart() const noexcept {
            csv->cutter_.forget();
            csv->looked_at_line_ = 0;
        }
        void behind_parsed(std::uint64_t /*line*/) const noexcept {}

        CsvSource* csv;
    };
    /// Cuts the row at position_.
    Row next_row();
    /// The text of what fills the record's field `index`.
    std::string_view text_of(std::size_t index);
    /// The same, empty where it is a word for no value.
    std::string_view value_of(std::size_t index) { return without_null(text_of(index)); }
    [[nodiscard]] std::string_view without_null(std::string_view text) const noexcept {
        return options_.null_words.empty() || !is_null(text) ? text : std::string_view{};
    }
    [[nodiscard]] bool has_field(std::size_t index) noexcept {
        return (columns_.empty() ? index : columns_[index]) < cutter_.fields().size();
    }
    [[nodiscard]] NumberFormat number_format() const noexcept {
        return {options_.non_finite, options_.decimal_comma ? ',' : '.'};
    }
    /// Whether the line, without its newline, is the header once more.
    [[nodiscard]] bool is_header(const char* line, std::size_t bytes) const noexcept {
        const std::size_t longer = bytes - header_bytes_;
        if (longer > 1 || (longer == 1 && line[header_bytes_] != '\r')) return false;
        return std::string_view(line, header_bytes_) == header_line_;
    }
    /// Whether the line begins with what comments begin with.
    [[nodiscard]] bool is_comment(const char* line) const noexcept {
        return *line == options_.comment && options_.comment != '\0';
    }
    /// Messages name the options of the command line, not the members of CsvOptions.
    void name_options_as_command_line() noexcept { on_command_line_ = true; }
    /// For a fault in the first row of an input that is to have no header; empty: it is none.
    [[nodiscard]] std::string header_hint(std::string_view text) const;
    /// Refuses the row of next_row() because of its field `index`.
    void refuse_field(std::size_t index, detail::CsvFault fault);
    /// Refuses the row of next_row().
    void refuse_row(std::string_view reason);
    /// Refuses the row that is being emitted for what its values are, for those that it is emitted
    /// to.
    void refuse_emitted(std::string_view reason);
    /// Refuses the line at position_, whose quote nothing closes, and passes that line only.
    void refuse_open_quote();
    /// A pipe was stopped while a quoted field was open at position_. The text behind its first
    /// line would be lost: it is read as rows, unless a malformed row ends the run anyway. False:
    /// nothing more is to be looked at.
    bool pass_open_quote_at_stop();
    /// Before the first text of each input: of the one before it nothing is known any more. A
    /// format of a derived source that has more to forget hides that of CsvRows.
    void begin_input();

    [[nodiscard]] const CsvOptions& options() const noexcept { return options_; }
    /// Whether rows are the record's fields one to one, so that they can be scanned directly.
    [[nodiscard]] bool is_direct() const noexcept { return direct_ && lines_to_skip_ == 0; }
    /// Whether the header, if there is one, was passed: then columns() is settled.
    [[nodiscard]] bool is_header_done() const noexcept { return header_done_; }
    /// Whether rows are read in the same way from here on.
    [[nodiscard]] bool is_settled() const noexcept {
        return header_done_ && lines_to_skip_ == 0 && (fields_per_row_ != 0 || options_.ragged);
    }
    /// The fields that each row has; 0: any number, or not known yet.
    [[nodiscard]] std::size_t fields_per_row() const noexcept { return fields_per_row_; }
    /// For each field of the record its column, counted from 0; none where they are one to one.
    [[nodiscard]] const std::vector<std::size_t>& columns() const noexcept { return columns_; }

    /// Where the row begins that was read last without next_row(); null: it is that of next_row().
    const char* scanned_ = nullptr;

  private:
    static constexpr std::size_t no_header = SIZE_MAX / 2;  // longer than any line

    bool pass_line();
    bool is_header_again() const noexcept;
    [[nodiscard]] bool is_null(std::string_view text) const noexcept;
    void take_header();
    void settle_columns();
    [[nodiscard]] std::size_t column_by_name(const std::string& name) const;
    [[nodiscard]] bool has_all_fields();
    [[nodiscard]] CsvQuoteLimits quote_limits() const noexcept;
    void refuse_first_line(const CsvRow& row, const CsvQuoteLimits& limits);
    [[noreturn]] void fail_header(const std::string& reason) const;

    CsvOptions options_;
    std::vector<std::size_t> columns_;  // index of the column per field; empty: one to one
    std::size_t columns_min_;           // up to the last that is asked for
    std::size_t fields_per_row_ = 0;
    std::vector<std::string> names_;
    std::string header_line_;
    std::size_t header_bytes_ = no_header;  // of header_line_, once there is one
    std::size_t lines_to_skip_ = 0;
    CsvRowCutter cutter_;
    CsvQuoteLimits quote_limits_{};
    std::uint64_t looked_at_line_ = 0;  // up to it rows were looked at as parts of others
    std::string raw_;                   // the row before unescaping, where it may be asked for
    std::string_view row_;              // the row as it stands in the chunk
    std::uint64_t row_line_ = 0;        // where it begins
    bool has_header_;
    bool on_command_line_ = false;
    bool header_done_ = false;
    bool direct_ = false;
};

}  // namespace strid
