// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <chrono>
#include <limits>
#include <utility>

#include <strid/base/time_text.hpp>
#include <strid/engine/base/time_fields.hpp>

namespace strid {

namespace {

using detail::day_s;
using detail::HalfOfDay;
using detail::is_digit;
using detail::second_ns;
using detail::take;
using detail::take_fraction;
using detail::take_half;
using detail::take_month;
using detail::take_number;
using detail::take_offset;
using detail::take_word;
using detail::take_zone_name;

__extension__ using Wide = __int128;

std::size_t count_digits(std::string_view text) noexcept {
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits])) ++digits;
    return digits;
}

/// Digits as an integer that stays at a limit which no time reaches.
Wide integer_of(std::string_view digits) noexcept {
    constexpr Wide limit = Wide{std::numeric_limits<std::int64_t>::max()} * 10;
    Wide value = 0;
    for (const char digit : digits) {
        if (value > limit) return value;
        value = value * 10 + (digit - '0');
    }
    return value;
}

/// A number with a point or an exponent, exactly: the last whole nanosecond that is not behind it.
/// `digits` are all of it, of which `whole` stand before the point.
TimeFault moment_of_number(std::string digits, std::int64_t whole, bool is_negative,
                           std::int64_t unit_ns, EventTime& time) {
    constexpr std::size_t places = 18;  // a unit is below 10^15 ns, so more say nothing
    if (whole < 0) {
        digits.insert(0, static_cast<std::size_t>(-whole), '0');
        whole = 0;
    }
    const auto point = static_cast<std::size_t>(whole);
    if (digits.size() < point + places) digits.append(point + places - digits.size(), '0');
    const std::string_view all = digits;
    constexpr Wide scale = 1'000'000'000'000'000'000;
    const Wide part = integer_of(all.substr(point, places)) * unit_ns;
    const bool is_between =
        part % scale != 0 ||
        all.substr(point + places).find_first_not_of('0') != std::string_view::npos;
    Wide ns = integer_of(all.substr(0, point)) * unit_ns + part / scale;
    if (is_negative) ns = -(ns + (is_between ? 1 : 0));
    if (ns < EventTime::earliest().ns() || ns > EventTime::latest().ns()) {
        return TimeFault::number_out_of_range;
    }
    time = EventTime::of_ns(static_cast<std::int64_t>(ns));
    return TimeFault::none;
}

/// `-1487249458.633`, `1.4872e9`. False: it is no number.
bool take_decimal(std::string_view text, const TimeNotation& notation, EventTime& time,
                  TimeFault& fault) {
    const bool is_negative = take(text, '-');
    if (!is_negative) static_cast<void>(take(text, '+'));
    std::size_t count = count_digits(text);
    std::string digits(text.substr(0, count));
    auto whole = static_cast<std::int64_t>(count);
    text.remove_prefix(count);
    if (take(text, notation.decimal_point)) {
        count = count_digits(text);
        digits += text.substr(0, count);
        text.remove_prefix(count);
    }
    if (digits.empty()) return false;
    if (take(text, 'e') || take(text, 'E')) {
        const bool is_smaller = take(text, '-');
        if (!is_smaller) static_cast<void>(take(text, '+'));
        int exponent = 0;
        if (!take_number(text, 1, 3, exponent)) return false;
        whole += is_smaller ? -exponent : exponent;
    }
    if (!text.empty()) return false;
    fault = moment_of_number(std::move(digits), whole, is_negative, notation.unit_ns, time);
    return true;
}

/// The offset behind a time of day; nothing is fine, too.
bool take_zone(std::string_view& text, const TimeZone& zone, CivilTime& civil, TimeForm& form) {
    using Offset = TimeForm::Offset;
    form.offset = Offset::none;
    if (text.empty()) return true;
    const bool is_apart = take(text, ' ');
    if (take_word(text, "UTC") || take_word(text, "GMT")) {
        civil.has_offset = true;
        form.offset = Offset::utc;
    } else if (take_word(text, "Z")) {
        civil.has_offset = true;
        form.offset = Offset::z;
    } else if (take_zone_name(text, zone, civil)) {
        form.offset = Offset::space;
    } else {
        const bool has_colon = text.size() > 3 && text[3] == ':';
        if (!take_offset(text, civil)) return false;
        form.offset = is_apart ? (has_colon ? Offset::space_colon : Offset::space)
                               : (has_colon ? Offset::colon : Offset::basic);
    }
    return text.empty();
}

/// `13:55`, `1:30:15.25 PM`; basic: `1355`, `135536.5`.
bool take_time_of_day(std::string_view& text, CivilTime& civil, TimeForm& form, HalfOfDay& half) {
    const bool is_basic = form.date == TimeForm::Date::basic;
    if (!take_number(text, is_basic ? 2 : 1, 2, civil.hour)) return false;
    if (!is_basic && !take(text, ':')) return false;
    if (!take_number(text, 2, 2, civil.minute)) return false;
    const bool has_seconds = is_basic ? !text.empty() && is_digit(text.front()) : take(text, ':');
    if (has_seconds) {
        if (!take_number(text, 2, 2, civil.second)) return false;
        const bool has_fraction = take(text, '.') || take(text, ',');
        if (has_fraction && !take_fraction(text, civil.ns)) return false;
    }
    std::string_view behind = text;
    static_cast<void>(take(behind, ' '));
    if (!is_basic && take_half(behind, half)) text = behind;
    return true;
}

/// The date in front, in any order.
bool take_date(std::string_view& text, CivilTime& civil, TimeForm& form) {
    using Date = TimeForm::Date;
    const std::size_t digits = count_digits(text);
    if (digits == 8) {
        form.date = Date::basic;
        return take_number(text, 4, 4, civil.year) && take_number(text, 2, 2, civil.month) &&
               take_number(text, 2, 2, civil.day);
    }
    if (digits == 4) {
        if (!take_number(text, 4, 4, civil.year)) return false;
        const char separator = take(text, '/') ? '/' : '-';
        form.date = separator == '/' ? Date::slashed : Date::iso;
        return (separator == '/' || take(text, '-')) && take_number(text, 1, 2, civil.month) &&
               take(text, separator) && take_number(text, 1, 2, civil.day);
    }
    if (digits == 0 || digits > 2) return false;
    int first = 0;
    if (!take_number(text, 1, 2, first) || !take(text, '/')) return false;
    if (take_month(text, civil.month)) {
        form.date = Date::log;
        civil.day = first;
    } else {
        form.date = Date::us;
        civil.month = first;
        if (!take_number(text, 1, 2, civil.day)) return false;
    }
    return take(text, '/') && take_number(text, 4, 4, civil.year);
}

TimeFault read_date(std::string_view text, const TimeZone& zone, EventTime& time, TimeForm& form) {
    using Date = TimeForm::Date;
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    CivilTime civil;
    HalfOfDay half = HalfOfDay::none;
    form.kind = TimeForm::Kind::date;
    if (!take_date(text, civil, form)) return TimeFault::no_time;
    const bool may_be_alone = form.date == Date::iso || form.date == Date::slashed;
    if (text.empty() && may_be_alone) {
        form.between = '\0';
        form.offset = TimeForm::Offset::none;
        return moment_of(civil, zone, time);
    }
    if (text.empty()) return form.date == Date::us ? TimeFault::day_or_month : TimeFault::no_time;
    form.between = text.front();
    const bool is_sure = form.date == Date::log ? take(text, ':')
                                                : take_word(text, "T") ||
                                                      (form.date != Date::basic && take(text, ' '));
    if (!is_sure || !take_time_of_day(text, civil, form, half)) return TimeFault::no_time;
    if (!take_zone(text, zone, civil, form)) return TimeFault::no_time;
    if (half == HalfOfDay::none && form.date == Date::us) return TimeFault::day_or_month;
    if (!detail::add_half(civil, half)) return TimeFault::no_time_of_day;
    return moment_of(civil, zone, time);
}

/// `2024-03-31...`: no number.
bool is_plain_date(std::string_view text) noexcept {
    return text.size() >= 10 && text[4] == '-' && is_digit(text[3]);
}

/// The usual `2024-03-31T01:30:00.25Z`, or without its Z where the zone is UTC. False: not sure.
bool scan_iso(std::string_view text, const TimeZone& zone, EventTime& time, TimeForm& form) {
    using namespace std::chrono;
    if (text.size() < 19) return false;
    const bool has_form = text[4] == '-' && text[7] == '-' &&
                          (text[10] == 'T' || text[10] == ' ') && text[13] == ':' &&
                          text[16] == ':';
    if (!has_form) return false;
    const auto two = [&](std::size_t at) { return detail::two_digits(text.data() + at); };
    const unsigned number = two(0) * 100 + two(2);
    const unsigned in_year = two(5);
    const unsigned in_month = two(8);
    const unsigned hours = two(11);
    const unsigned minutes = two(14);
    const unsigned second = two(17);
    constexpr unsigned first_year = 1678;
    constexpr unsigned last_year = 2261;
    const bool may_be = number >= first_year && number <= last_year && in_year <= 12 &&
                        in_month <= 31 && hours < 24 && minutes < 60 && second < 60;
    if (!may_be) return false;
    const year_month_day date{year{static_cast<int>(number)}, month{in_year}, day{in_month}};
    if (!date.ok()) return false;
    const char between = text[10];
    text.remove_prefix(19);
    std::int64_t ns = 0;
    if (take(text, '.') && !take_fraction(text, ns)) return false;
    const bool has_z = take(text, 'Z');
    if (!text.empty() || (!has_z && !zone.is_utc())) return false;
    form = {.kind = TimeForm::Kind::date,
            .between = between,
            .offset = has_z ? TimeForm::Offset::z : TimeForm::Offset::none};
    const std::int64_t day_ns = sys_days{date}.time_since_epoch().count() * day_s * second_ns;
    time = EventTime::of_ns(day_ns +
                            std::int64_t{(hours * 60 + minutes) * 60 + second} * second_ns + ns);
    return true;
}

bool read_count(std::string_view text, std::int64_t& count) noexcept {
    if (text.size() > 1 && text[0] == '+' && is_digit(text[1])) text.remove_prefix(1);
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, count);
    return error == std::errc{} && stop == end;
}

}  // namespace

TimeFault read_time(std::string_view text, const TimeNotation& notation, EventTime& time,
                    TimeForm& form) {
    if (is_plain_date(text)) {
        if (scan_iso(text, notation.zone, time, form)) return TimeFault::none;
        return read_date(text, notation.zone, time, form);
    }
    std::int64_t count = 0;
    std::int64_t ns = 0;
    if (read_count(text, count) && !__builtin_mul_overflow(count, notation.unit_ns, &ns)) {
        form.kind = TimeForm::Kind::integer;
        time = EventTime::of_ns(ns);
        return TimeFault::none;
    }
    TimeFault fault = TimeFault::none;
    if (take_decimal(text, notation, time, fault)) {
        form.kind = TimeForm::Kind::decimal;
        return fault;
    }
    return read_date(text, notation.zone, time, form);
}

}  // namespace strid
