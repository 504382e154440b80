// SPDX-License-Identifier: Apache-2.0
#include "cells.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <iterator>
#include <string_view>
#include <type_traits>

#include <arrow/extension_type.h>
#include <arrow/type_traits.h>
#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>
#include <fmt/format.h>

#include <strid/connector/csv_value.hpp>
#include <strid/engine/connector/csv_row.hpp>

namespace strid::parquet {

namespace {

using arrow::Array;

std::int64_t per_second(arrow::TimeUnit::type unit) noexcept {
    switch (unit) {
        case arrow::TimeUnit::SECOND:
            return 1;
        case arrow::TimeUnit::MILLI:
            return 1'000;
        case arrow::TimeUnit::MICRO:
            return 1'000'000;
        case arrow::TimeUnit::NANO:
            break;
    }
    return 1'000'000'000;
}

struct Parts {
    std::int64_t whole;
    std::int64_t rest;  // not negative
};
Parts divided(std::int64_t value, std::int64_t by) noexcept {
    std::int64_t whole = value / by;
    std::int64_t rest = value % by;
    if (rest < 0) {
        rest += by;
        --whole;
    }
    return {whole, rest};
}

void append_digits(std::string& out, std::int64_t value, int digits) {
    std::array<char, 20> text{};
    for (int i = digits; i-- != 0; value /= 10) {
        text[static_cast<std::size_t>(i)] = static_cast<char>('0' + value % 10);
    }
    out.append(text.data(), static_cast<std::size_t>(digits));
}

void append_day(std::string& out, std::int64_t days) {
    using namespace std::chrono;
    const std::int64_t limit = 11'000'000;  // beyond it a year of chrono ends
    if (days < -limit || days > limit) return detail::append_csv_value(out, days, ',');
    const year_month_day date{sys_days{std::chrono::days{days}}};
    const int year = static_cast<int>(date.year());
    if (year < 0) out += '-';
    append_digits(out, year < 0 ? -year : year, year > 9999 || year < -9999 ? 5 : 4);
    out += '-';
    append_digits(out, static_cast<unsigned>(date.month()), 2);
    out += '-';
    append_digits(out, static_cast<unsigned>(date.day()), 2);
}

/// Since midnight, with as many places as the unit has.
void append_time_of_day(std::string& out, std::int64_t value, std::int64_t in_second) {
    const Parts seconds = divided(value, in_second);
    append_digits(out, seconds.whole / 3600, 2);
    out += ':';
    append_digits(out, seconds.whole / 60 % 60, 2);
    out += ':';
    append_digits(out, seconds.whole % 60, 2);
    if (in_second == 1) return;
    out += '.';
    append_digits(out, seconds.rest, in_second == 1'000 ? 3 : in_second == 1'000'000 ? 6 : 9);
}

constexpr std::int64_t day_s = 86'400;

template <class ArrayType>
const ArrayType& of(const Array& values) noexcept {
    return static_cast<const ArrayType&>(values);
}

template <class ArrayType>
void append_number(std::string& out, const Array& values, std::int64_t row) {
    detail::append_csv_value(out, of<ArrayType>(values).Value(row), ',');
}

template <class ArrayType>
void append_text(std::string& out, const Array& values, std::int64_t row) {
    const std::string_view text = of<ArrayType>(values).GetView(row);
    if (text.empty()) {
        out += "\"\"";  // which null is not
    } else {
        append_csv_field(out, text, ',');
    }
}

template <class ArrayType>
void append_bytes(std::string& out, const Array& values, std::int64_t row) {
    const std::string_view bytes = of<ArrayType>(values).GetView(row);
    if (bytes.empty()) out += "\"\"";
    constexpr std::string_view digits = "0123456789abcdef";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
}

template <class ArrayType>
void append_decimal(std::string& out, const Array& values, std::int64_t row) {
    using Number = typename arrow::TypeTraits<typename ArrayType::TypeClass>::CType;
    const auto& type = static_cast<const arrow::DecimalType&>(*values.type());
    std::string digits = Number(of<ArrayType>(values).GetValue(row)).ToIntegerString();
    const bool is_negative = digits.front() == '-';
    if (is_negative) {
        digits.erase(0, 1);
        out += '-';
    }
    if (type.scale() <= 0) {
        if (digits != "0") digits.append(static_cast<std::size_t>(-type.scale()), '0');
        out += digits;
        return;
    }
    const auto places = static_cast<std::size_t>(type.scale());
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    out.append(digits, 0, digits.size() - places) += '.';
    out.append(digits, digits.size() - places);
}

void append_half(std::string& out, const Array& values, std::int64_t row) {
    const std::uint16_t bits = of<arrow::HalfFloatArray>(values).Value(row);
    detail::append_floating(out, arrow::util::Float16::FromBits(bits).ToFloat());
}

void append_date32(std::string& out, const Array& values, std::int64_t row) {
    append_day(out, of<arrow::Date32Array>(values).Value(row));
}

void append_date64(std::string& out, const Array& values, std::int64_t row) {
    append_day(out, divided(of<arrow::Date64Array>(values).Value(row), day_s * 1'000).whole);
}

template <class ArrayType, class Type>
void append_time(std::string& out, const Array& values, std::int64_t row) {
    const auto& type = static_cast<const Type&>(*values.type());
    append_time_of_day(out, of<ArrayType>(values).Value(row), per_second(type.unit()));
}

// A time with a zone is a moment, which is written in UTC.
void append_timestamp(std::string& out, const Array& values, std::int64_t row) {
    const auto& type = static_cast<const arrow::TimestampType&>(*values.type());
    const std::int64_t in_second = per_second(type.unit());
    const Parts parts = divided(of<arrow::TimestampArray>(values).Value(row), day_s * in_second);
    append_day(out, parts.whole);
    out += 'T';
    append_time_of_day(out, parts.rest, in_second);
    if (!type.timezone().empty()) out += 'Z';
}

void append_nothing(std::string& /*out*/, const Array& /*values*/, std::int64_t /*row*/) {}

}  // namespace

Cells::Append Cells::append_of(const arrow::DataType& type) noexcept {
    using Type = arrow::Type;
    switch (type.id()) {
        case Type::NA:
            return &append_nothing;
        case Type::BOOL:
            return &append_number<arrow::BooleanArray>;
        case Type::INT8:
            return &append_number<arrow::Int8Array>;
        case Type::INT16:
            return &append_number<arrow::Int16Array>;
        case Type::INT32:
            return &append_number<arrow::Int32Array>;
        case Type::INT64:
            return &append_number<arrow::Int64Array>;
        case Type::UINT8:
            return &append_number<arrow::UInt8Array>;
        case Type::UINT16:
            return &append_number<arrow::UInt16Array>;
        case Type::UINT32:
            return &append_number<arrow::UInt32Array>;
        case Type::UINT64:
            return &append_number<arrow::UInt64Array>;
        case Type::HALF_FLOAT:
            return &append_half;
        case Type::FLOAT:
            return &append_number<arrow::FloatArray>;
        case Type::DOUBLE:
            return &append_number<arrow::DoubleArray>;
        case Type::STRING:
            return &append_text<arrow::StringArray>;
        case Type::LARGE_STRING:
            return &append_text<arrow::LargeStringArray>;
        case Type::STRING_VIEW:
            return &append_text<arrow::StringViewArray>;
        case Type::BINARY:
            return &append_bytes<arrow::BinaryArray>;
        case Type::LARGE_BINARY:
            return &append_bytes<arrow::LargeBinaryArray>;
        case Type::BINARY_VIEW:
            return &append_bytes<arrow::BinaryViewArray>;
        case Type::FIXED_SIZE_BINARY:
            return &append_bytes<arrow::FixedSizeBinaryArray>;
        case Type::DECIMAL32:
            return &append_decimal<arrow::Decimal32Array>;
        case Type::DECIMAL64:
            return &append_decimal<arrow::Decimal64Array>;
        case Type::DECIMAL128:
            return &append_decimal<arrow::Decimal128Array>;
        case Type::DECIMAL256:
            return &append_decimal<arrow::Decimal256Array>;
        case Type::DATE32:
            return &append_date32;
        case Type::DATE64:
            return &append_date64;
        case Type::TIME32:
            return &append_time<arrow::Time32Array, arrow::Time32Type>;
        case Type::TIME64:
            return &append_time<arrow::Time64Array, arrow::Time64Type>;
        case Type::TIMESTAMP:
            return &append_timestamp;
        case Type::DURATION:
            return &append_number<arrow::DurationArray>;
        default:
            return nullptr;
    }
}

const arrow::DataType& Cells::plain_type(const arrow::DataType& type) noexcept {
    if (type.id() == arrow::Type::DICTIONARY) {
        return plain_type(*static_cast<const arrow::DictionaryType&>(type).value_type());
    }
    if (type.id() == arrow::Type::EXTENSION) {
        return plain_type(*static_cast<const arrow::ExtensionType&>(type).storage_type());
    }
    return type;
}

bool Cells::can_be_written(const arrow::DataType& type) noexcept {
    return append_of(plain_type(type)) != nullptr;
}

Cells::Cells(const std::shared_ptr<arrow::Array>& array)
    : rows_(array), append_(append_of(plain_type(*array->type()))) {
    const auto without_extension = [](std::shared_ptr<arrow::Array> one) {
        while (one->type_id() == arrow::Type::EXTENSION) {
            one = static_cast<const arrow::ExtensionArray&>(*one).storage();
        }
        return one;
    };
    rows_ = without_extension(rows_);
    values_ = rows_;
    if (rows_->type_id() == arrow::Type::DICTIONARY) {
        dictionary_ = static_cast<const arrow::DictionaryArray*>(rows_.get());
        values_ = without_extension(dictionary_->dictionary());
    }
}

void Cells::append(std::string& out, std::int64_t row) const {
    if (rows_->IsNull(row)) return;
    if (dictionary_ != nullptr) {
        row = dictionary_->GetValueIndex(row);
        if (values_->IsNull(row)) return;
    }
    append_(out, *values_, row);
}

}  // namespace strid::parquet
