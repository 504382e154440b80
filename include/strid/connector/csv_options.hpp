// SPDX-License-Identifier: Apache-2.0
//
// How tables of comma-separated values are read. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <strid/connector/csv_value.hpp>
#include <strid/connector/malformed.hpp>
#include <strid/connector/text_options.hpp>
#include <strid/state/journal.hpp>

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
    JournalOptions journal{};               ///< Of a pipe or a socket in a run with snapshots.
};

}  // namespace strid
