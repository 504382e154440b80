// SPDX-License-Identifier: Apache-2.0
#include "column_type.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/builder_time.h>
#include <arrow/util/decimal.h>
#include <arrow/util/utf8.h>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/time_text.hpp>
#include <strid/connector/csv_value.hpp>

#include "place.hpp"

namespace strid::parquet {

namespace {

constexpr std::int64_t second_in_ns = 1'000'000'000;
constexpr std::int64_t day_in_ns = 86'400 * second_in_ns;

std::string fault_of_status(const arrow::Status& status) {
    return status.ok() ? std::string{} : reason_of_status(status);
}

template <class Builder>
std::string append_number(arrow::ArrayBuilder& builder, const arrow::DataType& /*type*/,
                          std::string_view text) {
    typename Builder::value_type value{};
    if (const auto* const fault = detail::read_csv_value(text, value, NonFinite::accept)) {
        return fault;
    }
    return fault_of_status(static_cast<Builder&>(builder).Append(value));
}

/// A whole number beyond 2^53 that a double lacks is refused: it would come back as another one.
std::string append_double(arrow::ArrayBuilder& builder, const arrow::DataType& type,
                          std::string_view text) {
    std::int64_t whole = 0;
    const bool is_whole = detail::read_integer(text, whole) == nullptr;
    constexpr std::int64_t exact = std::int64_t{1} << 53;
    if (is_whole && (whole > exact || whole < -exact)) {
        const auto near = static_cast<double>(whole);
        const bool is_in_range = near < 0x1p63;
        if (!is_in_range || static_cast<std::int64_t>(near) != whole) {
            return "a double has no such whole number";
        }
    }
    return append_number<arrow::DoubleBuilder>(builder, type, text);
}

std::string append_string(arrow::ArrayBuilder& builder, const arrow::DataType& /*type*/,
                          std::string_view text) {
    if (!arrow::util::ValidateUTF8(text)) return "not UTF-8";
    return fault_of_status(static_cast<arrow::StringBuilder&>(builder).Append(text));
}

std::string append_binary(arrow::ArrayBuilder& builder, const arrow::DataType& /*type*/,
                          std::string_view text) {
    return fault_of_status(static_cast<arrow::BinaryBuilder&>(builder).Append(text));
}

std::string append_date(arrow::ArrayBuilder& builder, const arrow::DataType& /*type*/,
                        std::string_view text) {
    EventTime time;
    TimeForm form;
    const TimeFault fault = read_time(text, {}, time, form);
    if (fault != TimeFault::none) return describe(fault);
    if (form.kind != TimeForm::Kind::date || time.ns() % day_in_ns != 0) return "not a date";
    const auto days = static_cast<std::int32_t>(time.ns() / day_in_ns);
    return fault_of_status(static_cast<arrow::Date32Builder&>(builder).Append(days));
}

std::int64_t unit_in_ns(arrow::TimeUnit::type unit) noexcept {
    constexpr std::array<std::int64_t, 4> all{second_in_ns, 1'000'000, 1'000, 1};
    return all[static_cast<std::size_t>(unit)];
}

/// A whole number is of the unit.
std::string append_timestamp(arrow::ArrayBuilder& builder, const arrow::DataType& type,
                             std::string_view text) {
    auto& times = static_cast<arrow::TimestampBuilder&>(builder);
    std::int64_t value = 0;
    if (detail::read_integer(text, value) == nullptr) return fault_of_status(times.Append(value));
    const std::int64_t unit_ns = unit_in_ns(static_cast<const arrow::TimestampType&>(type).unit());
    EventTime time;
    TimeForm form;
    const TimeFault fault = read_time(text, {.unit_ns = unit_ns}, time, form);
    if (fault != TimeFault::none) return describe(fault);
    if (time.ns() % unit_ns != 0) return "it has more places than the unit of the column";
    return fault_of_status(times.Append(time.ns() / unit_ns));
}

std::string append_decimal(arrow::ArrayBuilder& builder, const arrow::DataType& type,
                           std::string_view text) {
    const auto& of_column = static_cast<const arrow::Decimal128Type&>(type);
    arrow::Decimal128 value;
    std::int32_t precision = 0;
    std::int32_t scale = 0;
    const auto status = arrow::Decimal128::FromString(text, &value, &precision, &scale);
    if (!status.ok()) return "not a decimal";
    const auto scaled = value.Rescale(scale, of_column.scale());
    if (!scaled.ok() || !scaled->FitsInPrecision(of_column.precision())) {
        return "it has more digits than the type of the column";
    }
    return fault_of_status(static_cast<arrow::Decimal128Builder&>(builder).Append(*scaled));
}

std::shared_ptr<arrow::DataType> decimal_of(std::string_view digits) {
    const std::size_t comma = digits.find(',');
    if (comma == std::string_view::npos) return nullptr;
    int precision = 0;
    int scale = 0;
    const bool is_read = detail::read_integer(digits.substr(0, comma), precision) == nullptr &&
                         detail::read_integer(digits.substr(comma + 1), scale) == nullptr;
    if (!is_read || precision < 1 || precision > 38 || scale < 0 || scale > precision) {
        return nullptr;
    }
    return arrow::decimal128(precision, scale);
}

}  // namespace

void add_types(TypeNames& types, const std::string& list, const std::string& address) {
    for (const std::string& item : names_of_list(list)) {
        const std::size_t colon = item.rfind(':');
        if (colon == std::string::npos || colon == 0) {
            throw GraphError(fmt::format("{}: types: '{}' is not NAME:TYPE", address, item));
        }
        std::string type = item.substr(colon + 1);
        if (type_of_name(type) == nullptr) {
            throw GraphError(fmt::format(
                "{}: types: there is no type '{}': int8 to int64, uint8 to uint64, float, double, "
                "bool, string, binary, date, timestamp[UNIT], datetime[UNIT], decimal(N,N)",
                address, type));
        }
        types.try_emplace(item.substr(0, colon), std::move(type));
    }
}

std::shared_ptr<arrow::DataType> type_of_name(std::string_view name) {
    struct Plain {
        std::string_view name;
        std::shared_ptr<arrow::DataType> type;
    };
    static const std::array<Plain, 14> plain = {{{"bool", arrow::boolean()},
                                                 {"int8", arrow::int8()},
                                                 {"int16", arrow::int16()},
                                                 {"int32", arrow::int32()},
                                                 {"int64", arrow::int64()},
                                                 {"uint8", arrow::uint8()},
                                                 {"uint16", arrow::uint16()},
                                                 {"uint32", arrow::uint32()},
                                                 {"uint64", arrow::uint64()},
                                                 {"float", arrow::float32()},
                                                 {"double", arrow::float64()},
                                                 {"string", arrow::utf8()},
                                                 {"binary", arrow::binary()},
                                                 {"date", arrow::date32()}}};
    for (const Plain& one : plain) {
        if (one.name == name) return one.type;
    }
    constexpr std::array<std::pair<std::string_view, arrow::TimeUnit::type>, 4> units = {
        {{"[s]", arrow::TimeUnit::SECOND},
         {"[ms]", arrow::TimeUnit::MILLI},
         {"[us]", arrow::TimeUnit::MICRO},
         {"[ns]", arrow::TimeUnit::NANO}}};
    for (const auto& [text, unit] : units) {
        if (!name.ends_with(text)) continue;
        const std::string_view kind = name.substr(0, name.size() - text.size());
        if (kind == "timestamp") return arrow::timestamp(unit, "UTC");
        if (kind == "datetime") return arrow::timestamp(unit);
    }
    constexpr std::string_view decimal = "decimal(";
    if (!name.starts_with(decimal) || !name.ends_with(')')) return nullptr;
    return decimal_of(name.substr(decimal.size(), name.size() - decimal.size() - 1));
}

void TypeGuess::look_at(const FieldText& field, bool is_quoted) {
    if (!field) return;
    is_any_ = true;
    if (is_quoted) may_be_bool_ = may_be_integer_ = may_be_double_ = may_be_moment_ = false;
    const std::string_view text = *field;
    may_be_bool_ = may_be_bool_ && (text == "true" || text == "false");
    std::int64_t whole = 0;
    may_be_integer_ = may_be_integer_ && detail::read_integer(text, whole) == nullptr;
    double number = 0;
    may_be_double_ =
        may_be_double_ && detail::read_floating(text, number, NonFinite::reject) == nullptr;
    if (!may_be_moment_) return;
    EventTime time;
    TimeForm form;
    may_be_moment_ = read_time(text, {}, time, form) == TimeFault::none &&
                     form.kind == TimeForm::Kind::date && form.offset != TimeForm::Offset::none;
}

const char* TypeGuess::name() const noexcept {
    if (!is_any_) return "string";
    if (may_be_bool_) return "bool";
    if (may_be_integer_) return "int64";
    if (may_be_double_) return "double";
    return may_be_moment_ ? "timestamp[ns]" : "string";
}

AppendText append_text_of(const arrow::DataType& type) noexcept {
    using Type = arrow::Type;
    switch (type.id()) {
        case Type::BOOL:
            return &append_number<arrow::BooleanBuilder>;
        case Type::INT8:
            return &append_number<arrow::Int8Builder>;
        case Type::INT16:
            return &append_number<arrow::Int16Builder>;
        case Type::INT32:
            return &append_number<arrow::Int32Builder>;
        case Type::INT64:
            return &append_number<arrow::Int64Builder>;
        case Type::UINT8:
            return &append_number<arrow::UInt8Builder>;
        case Type::UINT16:
            return &append_number<arrow::UInt16Builder>;
        case Type::UINT32:
            return &append_number<arrow::UInt32Builder>;
        case Type::UINT64:
            return &append_number<arrow::UInt64Builder>;
        case Type::FLOAT:
            return &append_number<arrow::FloatBuilder>;
        case Type::DOUBLE:
            return &append_double;
        case Type::BINARY:
            return &append_binary;
        case Type::DATE32:
            return &append_date;
        case Type::TIMESTAMP:
            return &append_timestamp;
        case Type::DECIMAL128:
            return &append_decimal;
        default:
            return &append_string;
    }
}

std::optional<std::int64_t> moment_of_text(const arrow::DataType& type, std::string_view text) {
    if (type.id() != arrow::Type::TIMESTAMP) return std::nullopt;
    const std::int64_t unit_ns = unit_in_ns(static_cast<const arrow::TimestampType&>(type).unit());
    EventTime time;
    TimeForm form;
    if (read_time(text, {.unit_ns = unit_ns}, time, form) != TimeFault::none) return std::nullopt;
    return time.ns();
}

}  // namespace strid::parquet
