// SPDX-License-Identifier: Apache-2.0
#include "column_type.hpp"

#include <algorithm>
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

/// The digits of a whole number, which may have zeros behind a point; empty: it is none, or zero.
std::string_view digits_of_whole(std::string_view text) {
    text = detail::without_plus(detail::trimmed(text));
    if (text.starts_with('-')) text.remove_prefix(1);
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string_view rest = text.substr(end);
    const bool is_whole = rest.empty() || (rest.front() == '.' && rest.find_first_not_of('0', 1) ==
                                                                      std::string_view::npos);
    if (!is_whole) return {};
    text = text.substr(0, end);
    return text.substr(std::min(text.find_first_not_of('0'), text.size()));
}

/// Whether a whole number is the value that was read, and not only near it. One that is written as
/// the value is comes back as it was.
template <class Number>
bool is_exact(std::string_view text, Number value) {
    const std::string_view digits = digits_of_whole(text);
    if (digits.size() <= std::numeric_limits<Number>::digits10) return true;
    if (fmt::format("{:.0f}", std::abs(static_cast<double>(value))) == digits) return true;
    std::string written;
    detail::append_floating(written, value);
    return written == text;
}

/// A whole number that the type lacks is refused: it would come back as another one.
template <class Builder>
std::string append_floating(arrow::ArrayBuilder& builder, const arrow::DataType& type,
                            std::string_view text) {
    typename Builder::value_type value{};
    const bool is_read = detail::read_csv_value(text, value, NonFinite::accept) == nullptr;
    if (is_read && std::isfinite(value) && !is_exact(text, value)) {
        return fmt::format("a {} has no such whole number", type.ToString());
    }
    return append_number<Builder>(builder, type, text);
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

struct Moment {
    EventTime time;
    TimeForm form;
    std::int64_t days_later = 0;
};

/// Dates beyond 1677 and 2262, which no EventTime has, are read as such of the same place in
/// another cycle of the calendar.
TimeFault read_moment(std::string_view text, std::int64_t unit_ns, Moment& moment) {
    constexpr int cycle_years = 400;
    constexpr int cycle_days = 146'097;
    constexpr int first_year = 1700;
    const TimeFault fault = read_time(text, {.unit_ns = unit_ns}, moment.time, moment.form);
    if (fault == TimeFault::none || text.size() < 5 || text[4] != '-') return fault;
    int year = 0;
    if (detail::read_integer(text.substr(0, 4), year) != nullptr || year < 0) return fault;
    int near = first_year - first_year % cycle_years + year % cycle_years;
    if (near < first_year) near += cycle_years;
    moment.days_later = std::int64_t{(year - near) / cycle_years} * cycle_days;
    return read_time(fmt::format("{}{}", near, text.substr(4)), {.unit_ns = unit_ns}, moment.time,
                     moment.form);
}

std::string append_date(arrow::ArrayBuilder& builder, const arrow::DataType& /*type*/,
                        std::string_view text) {
    Moment moment;
    const TimeFault fault = read_moment(text, 1, moment);
    if (fault != TimeFault::none) return describe(fault);
    const std::int64_t ns = moment.time.ns();
    if (moment.form.kind != TimeForm::Kind::date || ns % day_in_ns != 0) return "not a date";
    const auto days = static_cast<std::int32_t>(ns / day_in_ns + moment.days_later);
    return fault_of_status(static_cast<arrow::Date32Builder&>(builder).Append(days));
}

std::int64_t unit_in_ns(const arrow::DataType& type) noexcept {
    constexpr std::array<std::int64_t, 4> all{second_in_ns, 1'000'000, 1'000, 1};
    return all[static_cast<std::size_t>(static_cast<const arrow::TimestampType&>(type).unit())];
}

/// A whole number is of the unit.
std::string append_timestamp(arrow::ArrayBuilder& builder, const arrow::DataType& type,
                             std::string_view text) {
    auto& times = static_cast<arrow::TimestampBuilder&>(builder);
    std::int64_t value = 0;
    if (detail::read_integer(text, value) == nullptr) return fault_of_status(times.Append(value));
    const std::int64_t unit_ns = unit_in_ns(type);
    Moment moment;
    const TimeFault fault = read_moment(text, unit_ns, moment);
    if (fault != TimeFault::none) return describe(fault);
    if (moment.time.ns() % unit_ns != 0) return "it has more places than the unit of the column";
    if (__builtin_mul_overflow(moment.days_later, day_in_ns / unit_ns, &value) ||
        __builtin_add_overflow(moment.time.ns() / unit_ns, value, &value)) {
        return "nanoseconds are of the years 1677 to 2262";
    }
    return fault_of_status(times.Append(value));
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

/// As it is written.
bool is_plain_integer(std::string_view text) {
    std::int64_t value = 0;
    if (detail::read_integer(text, value) != nullptr) return false;
    const fmt::format_int written(value);
    return std::string_view(written.data(), written.size()) == text;
}

/// Without what no double comes back with: a plus sign, zeros in front, and more digits than it
/// has.
bool is_plain_double(std::string_view text) {
    double value = 0;
    if (detail::read_floating(text, value, NonFinite::reject) != nullptr) return false;
    std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    const bool has_zero = digits.size() > 1 && digits[0] == '0' && digits[1] >= '0';
    const bool is_plain = digits[0] >= '0' && (!has_zero || digits[1] == 'e' || digits[1] == 'E');
    if (!is_plain || detail::trimmed(text) != text || !is_exact(text, value)) return false;
    digits = digits.substr(0, digits.find_first_of("eE"));
    digits.remove_prefix(std::min(digits.find_first_not_of("0."), digits.size()));
    const auto points = std::count(digits.begin(), digits.end(), '.');
    return digits.size() - static_cast<std::size_t>(points) <=
           std::numeric_limits<double>::max_digits10;
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
    may_be_integer_ = may_be_integer_ && is_plain_integer(text);
    may_be_double_ = may_be_double_ && is_plain_double(text);
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
            return &append_floating<arrow::FloatBuilder>;
        case Type::DOUBLE:
            return &append_floating<arrow::DoubleBuilder>;
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

std::optional<std::chrono::sys_seconds> moment_of_text(const arrow::DataType& type,
                                                       std::string_view text) {
    using namespace std::chrono;
    if (type.id() != arrow::Type::TIMESTAMP) return std::nullopt;
    const std::int64_t unit_ns = unit_in_ns(type);
    seconds found{};
    std::int64_t value = 0;
    if (detail::read_integer(text, value) == nullptr) {
        const std::int64_t in_second = second_in_ns / unit_ns;
        found = seconds{value / in_second - (value % in_second < 0 ? 1 : 0)};
    } else {
        Moment moment;
        if (read_moment(text, unit_ns, moment) != TimeFault::none) return std::nullopt;
        found = floor<seconds>(nanoseconds{moment.time.ns()}) + days{moment.days_later};
    }
    constexpr sys_seconds begin = sys_days{year{0} / January / 1};
    constexpr sys_seconds end = sys_days{year{10'000} / January / 1};
    const sys_seconds moment{found};
    if (moment < begin || moment >= end) return std::nullopt;
    return moment;
}

}  // namespace strid::parquet
