// SPDX-License-Identifier: Apache-2.0
//
// A source of typed records from comma-separated values (RFC 4180): a file, compressed or not, a
// pipe, a socket or standard input ("-"; see ByteReader). The record is a plain struct, a tuple or
// a single value; its fields are filled from the columns in order, or from the columns that the
// options name. Fields may be integers, floating point, bool, char, enums (by number),
// std::array<char, N>, std::string_view (points into the chunk it was read into), std::optional of
// these (empty: no value), std::string (allocates), and types with from_csv (fields.hpp). Blank
// lines are passed over.
//
// Malformed rows follow CsvOptions::on_malformed. After a fault in quoting the reader goes on with
// the next line. See FileSource for threads and replicas.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <strid/connector/csv_options.hpp>
#include <strid/connector/fields.hpp>
#include <strid/engine/connector/csv_source.hpp>
#include <strid/engine/connector/read_fields.hpp>

namespace strid {

/// The source that `csv_file` makes. Records are plain aggregates, tuples, pairs or single values.
template <class T>
class CsvFile : public CsvSource {
  public:
    using record_type = T;
    static constexpr SourceTraits traits = with_ranges(CsvSource::traits);

    using CsvSource::on;
    void on(const TasksWanted& wanted) { bring_parsers(parsers_, wanted); }
    void on(Closed) noexcept { parsers_.close(); }

    /// Opens nothing yet. Throws GraphError for options that do not fit the record.
    explicit CsvFile(std::string path, CsvOptions options = {})
        : CsvFile(std::vector{std::move(path)}, std::move(options)) {}
    /// Several files, one behind the other.
    CsvFile(std::vector<std::string> paths, CsvOptions options)
        : CsvSource(std::move(paths), std::move(options), detail::field_count<T>()) {}

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        return poll_records<T, detail::holds_text<T>>(emit, budget, Rows{*this});
    }
    /// Parses a range, as a copy of the source that has read it.
    void parse(ParsedRows<T>& range) {
        parse_apart<T, detail::holds_text<T>>(range, range, Rows{*this});
    }

  private:
    struct Rows : CsvRows {
        explicit Rows(CsvFile& source) noexcept : CsvRows(source), file(&source) {}

        [[gnu::always_inline]] Row operator()(T& record) const {
            return file->scan_row(record) ? Row::ready : file->read_row(record);
        }
        void begin_input() const {
            CsvRows::begin_input();
            file->parsers_.forget_pattern();
        }
        [[nodiscard]] bool begin_ranges() const {
            if (!is_settled()) return false;
            file->parsers_.set_pattern(*file);
            return true;
        }
        static constexpr bool reads_ranges = true;

        CsvFile* file;
    };

    // One pass over a plain row. False, with nothing consumed, when read_row() has to look.
    [[gnu::always_inline]] bool scan_row(T& record) noexcept {
        if (!is_direct() || *position_ == '\r' || is_comment(position_)) return false;
        const char* p = position_;
        const char delimiter = options().delimiter;
        constexpr std::size_t last = detail::field_count<T>() - 1;
        const bool plain = detail::visit_fields(record, [&](std::size_t index, auto& field) {
            if (!detail::scan_csv_value(p, end_, delimiter, field)) return false;
            if (index == last) {
                p += static_cast<int>(*p == '\r');
                return *p == '\n';
            }
            return *p++ == delimiter;
        });
        const auto length = static_cast<std::size_t>(p - position_);
        if (!plain || length > line_bytes_max() || length == 0) return false;
        if (is_header(position_, length)) return false;
        ++line_number_;
        scanned_ = position_;
        position_ += length + 1;
        return true;
    }

    Row read_row(T& record) {
        const Row row = next_row();
        if (row != Row::ready) return row;
        const auto fault = detail::read_fields(
            record, [this](std::size_t index) { return value_of(index); }, number_format());
        if (fault.reason == nullptr) return row;
        refuse_field(fault.field, fault.reason);
        return Row::none;
    }

    RangeParsers<CsvFile> parsers_;
};

/// The records of the CSV file `path`. Throws GraphError for options that do not fit T.
template <class T>
[[nodiscard]] auto csv_file([[maybe_unused]] std::string path,
                            [[maybe_unused]] CsvOptions options = {}) {
    if constexpr (detail::takes_rows<T>()) {
        return CsvFile<T>(std::move(path), std::move(options));
    } else {
        return operators::NoSource<T>{};
    }
}

/// The records of several CSV files, one behind the other; each has its own header where there is
/// one, and its columns in any order.
template <class T>
[[nodiscard]] auto csv_files([[maybe_unused]] std::vector<std::string> paths,
                             [[maybe_unused]] CsvOptions options = {}) {
    if constexpr (detail::takes_rows<T>()) {
        return CsvFile<T>(std::move(paths), std::move(options));
    } else {
        return operators::NoSource<T>{};
    }
}

}  // namespace strid
