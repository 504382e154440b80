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

#include <concepts>
#include <cstddef>
#include <string>
#include <utility>

#include <strid/connector/csv_source.hpp>

namespace strid {

/// How a row becomes a `T` whose fields the compiler knows. Another layout may know them only at
/// run time: it says how many columns it takes and reads a record from their texts.
template <class T>
struct FieldLayout {
    static constexpr bool holds_text = detail::holds_text<T>;

    [[nodiscard]] std::size_t columns() const noexcept { return detail::field_count<T>(); }
    /// What is wrong with the column `faulty`; null where nothing is.
    template <class TextOf>
    detail::CsvFault read(T& record, TextOf&& text_of, NonFinite non_finite,
                          std::size_t& faulty) const {
        detail::CsvFault fault = nullptr;
        detail::visit_fields(record, [&](std::size_t index, auto& field) {
            fault = detail::read_csv_value(text_of(index), field, non_finite);
            faulty = index;
            return fault == nullptr;
        });
        return fault;
    }
};

template <class T, class Layout = FieldLayout<T>>
class CsvFile : public CsvSource {
  public:
    using record_type = T;

    explicit CsvFile(std::string path, CsvOptions options = {}, Layout layout = {})
        : CsvSource(std::move(path), std::move(options), layout.columns()),
          layout_(std::move(layout)) {}

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (!reader_) return SourceStatus::finished;
        keep_text(emit);
        for (;;) {
            bool partial = false;
            while (position_ != end_ && !partial) {
                if (budget == 0) return SourceStatus::more;
                T record{};
                if (!scanned(record)) {
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
        if constexpr (Layout::holds_text) {
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

    bool scanned([[maybe_unused]] T& record) noexcept {
        if constexpr (std::same_as<Layout, FieldLayout<T>>) return scan_row(record);
        return false;
    }

    Row read_row(T& record) {
        const Row row = next_row();
        if (row != Row::ready) return row;
        std::size_t faulty = 0;
        const detail::CsvFault fault = layout_.read(
            record, [this](std::size_t index) { return text_of(index); }, options().non_finite,
            faulty);
        if (fault == nullptr) return row;
        refuse_field(faulty, fault);
        return Row::none;
    }

    [[no_unique_address]] Layout layout_;
};

/// The records of the CSV file `path`. Throws GraphError for options that do not fit T.
template <class T>
[[nodiscard]] CsvFile<T> csv_file(std::string path, CsvOptions options = {}) {
    return CsvFile<T>(std::move(path), std::move(options));
}

}  // namespace strid
