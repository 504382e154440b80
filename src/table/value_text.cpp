// SPDX-License-Identifier: Apache-2.0
#include "value_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <limits>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/quantity.hpp>
#include <strid/base/time_text.hpp>
#include <strid/connector/csv_value.hpp>

#include "decimal.hpp"

namespace strid::table {

namespace {

constexpr std::array words{"and", "as",  "between", "case", "else", "end",  "false", "in",
                           "is",  "not", "null",    "or",   "then", "true", "when"};

struct Unit {
    std::int64_t ns;
    std::string_view name;
};
constexpr std::array units{Unit{86'400'000'000'000, "d"},
                           Unit{3'600'000'000'000, "h"},
                           Unit{60'000'000'000, "m"},
                           Unit{1'000'000'000, "s"},
                           Unit{1'000'000, "ms"},
                           Unit{1'000, "us"},
                           Unit{1, "ns"}};

const char* read_interval(std::string_view text, std::int64_t& ns) {
    text = strid::detail::without_plus(strid::detail::trimmed(text));
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    try {
        const std::int64_t size = read_duration_or_zero(text).count();
        ns = is_negative ? -size : size;
        return nullptr;
    } catch (const Error&) {
        return "not an interval, such as 90s or 5m";
    }
}

const char* read_time_of(std::string_view text, std::int64_t& ns) {
    TimeForm form;
    EventTime time = EventTime::earliest();
    const TimeFault fault = read_time(strid::detail::trimmed(text), TimeNotation{}, time, form);
    ns = time.ns();
    return fault == TimeFault::none ? nullptr : describe(fault);
}

}  // namespace

void append_time_text(std::string& out, std::int64_t ns) {
    constexpr std::int64_t second_ns = 1'000'000'000;
    constexpr std::int64_t day_s = 86'400;
    if (ns < 0) {
        const TimeForm form{.kind = TimeForm::Kind::date, .offset = TimeForm::Offset::z};
        return append_time(out, EventTime::of_ns(ns), form, TimeNotation{});
    }
    // From 1970 to 2262, of four digits each.
    const std::chrono::year_month_day date{
        std::chrono::sys_days{std::chrono::days{ns / second_ns / day_s}}};
    const auto second = static_cast<unsigned>(ns / second_ns % day_s);
    char text[] = "0000-00-00T00:00:00.000000000Z";
    const auto put = [&text](std::size_t end, unsigned number) {
        for (; number != 0; number /= 10) text[--end] = static_cast<char>('0' + number % 10);
    };
    put(4, static_cast<unsigned>(static_cast<int>(date.year())));
    put(7, static_cast<unsigned>(date.month()));
    put(10, static_cast<unsigned>(date.day()));
    put(13, second / 3600);
    put(16, second / 60 % 60);
    put(19, second % 60);
    std::size_t size = 19;
    if (const auto part = static_cast<unsigned>(ns % second_ns); part != 0) {
        size = 29;
        put(size, part);
        while (text[size - 1] == '0') --size;
    }
    text[size] = 'Z';
    out.append(text, size + 1);
}

void append_interval_text(std::string& out, std::int64_t ns) {
    if (ns == 0) {
        out += "0s";
        return;
    }
    const auto unit = std::find_if(units.begin(), units.end(),
                                   [ns](const Unit& one) { return ns % one.ns == 0; });
    out += fmt::format("{}{}", ns / unit->ns, unit->name);
}

void append_value(std::string& out, Type type, const void* values, std::size_t row) {
    const auto integer = [&] { return static_cast<const std::int64_t*>(values)[row]; };
    switch (type.kind) {
        case Kind::boolean:
            out += static_cast<const std::uint8_t*>(values)[row] != 0 ? "true" : "false";
            return;
        case Kind::int64: {
            const fmt::format_int text(integer());
            out.append(text.data(), text.size());
            return;
        }
        case Kind::float64:
            strid::detail::append_floating(out, static_cast<const double*>(values)[row]);
            return;
        case Kind::decimal:
            append_decimal(out, integer(), type.scale);
            return;
        case Kind::text:
            out += static_cast<const std::string_view*>(values)[row];
            return;
        case Kind::time:
            append_time_text(out, integer());
            return;
        case Kind::interval:
            append_interval_text(out, integer());
            return;
    }
}

const char* read_value(std::string_view text, Type type, void* values, std::size_t row,
                       NumberFormat format) {
    std::int64_t* const integers = static_cast<std::int64_t*>(values);
    switch (type.kind) {
        case Kind::boolean: {
            bool value = false;
            const char* const fault = strid::detail::read_bool(text, value);
            static_cast<std::uint8_t*>(values)[row] = value ? 1 : 0;
            return fault;
        }
        case Kind::int64:
            return strid::detail::read_integer(text, integers[row]);
        case Kind::float64:
            return strid::detail::read_floating(text, static_cast<double*>(values)[row], format);
        case Kind::decimal: {
            const auto units_read = read_decimal(text, type.scale, format.decimal_point);
            integers[row] = units_read.value_or(0);
            return units_read ? nullptr : "not a decimal of at most 18 digits";
        }
        case Kind::text:
            static_cast<std::string_view*>(values)[row] = text;
            return nullptr;
        case Kind::time:
            return read_time_of(text, integers[row]);
        case Kind::interval:
            return read_interval(text, integers[row]);
    }
    return nullptr;
}

bool is_plain_name(std::string_view name) {
    if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
    std::string lower;
    for (const char c : name) {
        const bool is_upper = c >= 'A' && c <= 'Z';
        const bool is_other = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        if (!is_upper && !is_other) return false;
        lower += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return std::find(words.begin(), words.end(), lower) == words.end();
}

}  // namespace strid::table
