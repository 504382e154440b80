// SPDX-License-Identifier: Apache-2.0
//
// A source of typed records from comma-separated values (RFC 4180): a file, gzip or zstd, a pipe
// or standard input ("-"). The record is a plain struct, a tuple or a single value; its fields are
// filled from the columns in order, or from the columns that the options name. Fields may be
// integers, floating point, bool, char, enums (by number), std::array<char, N>, std::string_view
// (points into the chunk it was read into), std::optional of these (empty: no value), std::string
// (allocates), and types with from_csv (fields.hpp). Blank lines are passed over.
//
// Malformed rows follow CsvOptions::on_malformed. After a fault in quoting the reader goes on with
// the next line. See FileSource for threads and replicas.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <strid/connector/csv_source.hpp>

namespace strid {

template <class T>
class CsvFile : public CsvSource {
  public:
    using record_type = T;

    explicit CsvFile(std::string path, CsvOptions options = {})
        : CsvSource(std::move(path), std::move(options), detail::field_count<T>()) {}

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (!reader_) return SourceStatus::finished;
        keep_text(emit);
        for (;;) {
            bool partial = false;
            while (position_ != end_ && !partial) {
                if (budget == 0) return SourceStatus::more;
                T record{};
                if (!scan_row(record)) {
                    const Row row = read_row(record);
                    partial = row == Row::partial;
                    if (row != Row::ready) continue;
                }
                --budget;
                if (!emit(std::move(record))) return SourceStatus::more;
            }
            if (const auto refused = malformed_->take_count()) emit.count_malformed(refused);
            switch (refill()) {
                case Refill::text:
                    start();
                    keep_text(emit);
                    break;
                case Refill::wait:
                    return SourceStatus::idle;
                case Refill::too_long:
                    if (position_ == end_) {
                        drop_too_long();
                    } else {
                        refuse_open_quote();
                    }
                    break;
                case Refill::end:
                    if (position_ != end_) {
                        refuse_open_quote();
                        break;
                    }
                    finish();
                    return SourceStatus::finished;
            }
        }
    }

  private:
    template <class Emit>
    void keep_text(Emit& emit) {
        if constexpr (detail::holds_text<T>) {
            if (position_ != end_) emit.keep_alive(reader_->chunk());
        }
    }

    // One pass over a plain row. False, with nothing consumed, when read_row() has to look.
    bool scan_row(T& record) noexcept {
        if (!is_direct() || *position_ == '\r') return false;
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
        ++line_number_;
        position_ += length + 1;
        return true;
    }

    Row read_row(T& record) {
        const Row row = next_row();
        if (row != Row::ready) return row;
        std::size_t faulty = 0;
        detail::CsvFault fault = nullptr;
        detail::visit_fields(record, [&](std::size_t index, auto& field) {
            fault = detail::read_csv_value(text_of(index), field, options().non_finite);
            faulty = index;
            return fault == nullptr;
        });
        if (fault == nullptr) return row;
        refuse_field(faulty, fault);
        return Row::none;
    }
};

/// The records of the CSV file `path`. Throws GraphError for options that do not fit T.
template <class T>
[[nodiscard]] CsvFile<T> csv_file(std::string path, CsvOptions options = {}) {
    return CsvFile<T>(std::move(path), std::move(options));
}

}  // namespace strid
