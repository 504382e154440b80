// SPDX-License-Identifier: Apache-2.0
//
// The part of a CSV source that does not depend on the record: options, the header, rows cut into
// fields, and the texts of errors. Derived: CsvFile<T>, or a source whose record is known at run
// time only. Threads as in FileSource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/connector/csv_value.hpp>
#include <strid/engine/connector/csv_row.hpp>
#include <strid/engine/connector/file_source.hpp>

namespace strid {

/// The meaning of the first row.
enum class CsvHeader : std::uint8_t {
    none,  ///< the first row is a record
    skip   ///< the first row holds names
};

/// A column by its name in the header, or by its number counted from 1 as in error messages.
class CsvColumn {
  public:
    /// By name. Implicit, so that a text may stand for a column.
    CsvColumn(std::string name) : name_(std::move(name)) {}
    /// By name.
    CsvColumn(const char* name) : name_(name) {}
    /// By number, from 1.
    CsvColumn(int number) : number_(number) {}

    /// Whether it is named.
    [[nodiscard]] bool is_named() const noexcept { return number_ < 0; }
    /// The name; empty for a number.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// The number, from 1; negative for a name.
    [[nodiscard]] int number() const noexcept { return number_; }

  private:
    std::string name_;
    int number_ = -1;
};

/// How a table is read. The defaults read RFC 4180 without a header.
struct CsvOptions {
    char delimiter = ',';                ///< Between fields.
    CsvHeader header = CsvHeader::none;  ///< The meaning of the first row.
    /// The number of lines to skip before the header, or before the first row if there is none.
    std::size_t skip_lines = 0;
    /// Lines that begin with this character are skipped; '\0': none.
    char comment = '\0';
    /// Fields may stand in quotes. False: a quote is a character as any other, as in files whose
    /// fields have tabs between them.
    bool quotes = true;
    /// The character behind it stands for itself, in quotes and outside: a backslash for what
    /// MySQL, Spark and Hive write. '\0': none, and a quote in quotes is doubled.
    char escape = '\0';
    /// Numbers have a decimal comma instead of a point.
    bool decimal_comma = false;
    /// Fields with one of these texts, without the spaces around it, count as empty: no value.
    std::vector<std::string> null_words{};
    /// Which column fills which field of the record, in the order of the fields; others are
    /// ignored. Names imply a header; spaces around them are ignored, and a name that the header
    /// has twice is an error. A repeated header, as in concatenated files, is skipped. Empty: the
    /// row has exactly the record's fields.
    std::vector<CsvColumn> columns{};
    /// Allows rows with more or fewer fields than the header, or than the first row if there is no
    /// header. Additional fields are ignored, missing ones are empty. Otherwise such a row is
    /// malformed, whichever columns are used: a column too many (a decimal comma without quotes)
    /// shifts those behind it.
    bool ragged = false;
    /// A quote that is still open at the end of a line is followed while its row has at most so
    /// many lines and bytes. Beyond, the row's first line is malformed and reading goes on with the
    /// second. 0: 100 lines and 64 KiB of an input that may fall silent (a pipe, a terminal, a
    /// socket), which a stray quote would silence; what TextOptions allows a row of a file.
    std::size_t quoted_lines_max = 0;
    std::size_t quoted_bytes_max = 0;  ///< As quoted_lines_max, in bytes.
    /// Whether the words nan and inf are numbers.
    NonFinite non_finite = NonFinite::reject;
    OnMalformed on_malformed = OnMalformed::stop;  ///< The action for a row that is no record.
    std::string dead_letter_path{};                ///< see MalformedOptions
    /// Called with each refused row, by the thread of the replica.
    std::function<void(const MalformedLine&)> dead_letter{};
    TextOptions text{};                     ///< How text is read and how long a row may be.
    Writing dead_letters = Writing::whole;  ///< when the file of dead_letter_path gets its rows
};

class CsvSource : public FileSource {
  public:
    using FileSource::on;
    void on(const Opened& opened) { begin(opened.context); }

  protected:
    /// As on(const Opened&), for a reader outside a graph.
    void begin(const Context& context);
    /// Throws GraphError for options that do not fit a record of `fields`.
    CsvSource(std::vector<std::string> paths, CsvOptions options, std::size_t fields);
    CsvSource(const CsvSource&);
    CsvSource(CsvSource&&) noexcept;
    ~CsvSource();

    /// poll_records() of a derived source. `read` has what differs from CSV: `refuse_partial()` and
    /// `pass_partial_at_stop()` instead of those for an open quote, and `end_input()`.
    template <class T, bool holds_text, class Emit, class Read>
    SourceStatus poll_rows(Emit& emit, std::size_t budget, Read read);
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
    /// After the first text: passes a byte order mark.
    void start();
    /// Before the first text of each input: of the one before it nothing is known any more.
    virtual void begin_input();

    [[nodiscard]] const CsvOptions& options() const noexcept { return options_; }
    /// Whether rows are the record's fields one to one, so that they can be scanned directly.
    [[nodiscard]] bool is_direct() const noexcept { return direct_ && lines_to_skip_ == 0; }
    /// Whether the header, if there is one, was passed: then columns() is settled.
    [[nodiscard]] bool is_header_done() const noexcept { return header_done_; }
    /// The fields that each row has; 0: any number, or not known yet.
    [[nodiscard]] std::size_t fields_per_row() const noexcept { return fields_per_row_; }
    /// For each field of the record its column, counted from 0; none where they are one to one.
    [[nodiscard]] const std::vector<std::size_t>& columns() const noexcept { return columns_; }

    /// Where the row begins that was read last without next_row(); null: it is that of next_row().
    const char* scanned_ = nullptr;

  private:
    static constexpr std::size_t no_header = SIZE_MAX / 2;  // longer than any line

    template <class Read>
    struct Format {
        CsvSource* source;
        Read read;

        template <class T>
        [[gnu::always_inline]] Row operator()(T& record) {
            return read(record);
        }
        void begin_input() { source->begin_input(); }
        void begin_text() { source->start(); }
        void refuse_partial() {
            if constexpr (requires { read.refuse_partial(); }) {
                read.refuse_partial();
            } else {
                source->refuse_open_quote();
            }
        }
        bool pass_partial_at_stop() {
            if constexpr (requires { read.pass_partial_at_stop(); }) {
                return read.pass_partial_at_stop();
            } else {
                return source->pass_open_quote_at_stop();
            }
        }
        void end_input() {
            if constexpr (requires { read.end_input(); }) read.end_input();
        }
    };
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
    bool started_ = false;
    bool direct_ = false;
};

template <class T, bool holds_text, class Emit, class Read>
SourceStatus CsvSource::poll_rows(Emit& emit, std::size_t budget, Read read) {
    return poll_records<T, holds_text>(emit, budget, Format<Read>{this, read});
}

}  // namespace strid
