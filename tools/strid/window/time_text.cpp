// SPDX-License-Identifier: Apache-2.0
#include "time_text.hpp"

#include <chrono>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "civil_time.hpp"

namespace strid::tool {

namespace {

__extension__ using Wide = __int128;

constexpr const char* no_time =
    "not a time: neither a number of the --unit nor a date (2024-03-31T01:30:00.5Z, 2024/03/31 "
    "1:30, 03/31/2024 01:30 AM, 31/Mar/2024:01:30:00 +0200); --time-format reads others";

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

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
detail::CsvFault moment_of_number(std::string digits, std::int64_t whole, bool is_negative,
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
        return "out of range for the --unit (ns, us, ms, s, ...)";
    }
    time = EventTime::of_ns(static_cast<std::int64_t>(ns));
    return nullptr;
}

/// `-1487249458.633`, `1.4872e9`. Null text of the fault: it is no number.
bool take_decimal(std::string_view text, const TimeFormat& format, EventTime& time,
                  detail::CsvFault& fault) {
    const bool is_negative = take(text, '-');
    if (!is_negative) static_cast<void>(take(text, '+'));
    std::size_t count = count_digits(text);
    std::string digits(text.substr(0, count));
    auto whole = static_cast<std::int64_t>(count);
    text.remove_prefix(count);
    if (take(text, format.decimal_point)) {
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
    fault = moment_of_number(std::move(digits), whole, is_negative, format.unit_ns, time);
    return true;
}

/// The offset behind a time of day; nothing is fine, too.
bool take_zone(std::string_view& text, CivilTime& civil, TimeForm& form) {
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

detail::CsvFault read_date(std::string_view text, const TimeZone& zone, EventTime& time,
                           TimeForm& form) {
    using Date = TimeForm::Date;
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    CivilTime civil;
    HalfOfDay half = HalfOfDay::none;
    form.kind = TimeForm::Kind::date;
    if (!take_date(text, civil, form)) return no_time;
    const bool may_be_alone = form.date == Date::iso || form.date == Date::slashed;
    if (text.empty() && may_be_alone) {
        form.between = '\0';
        form.offset = TimeForm::Offset::none;
        return moment_of(civil, zone, time);
    }
    constexpr const char* day_or_month =
        "day or month first? --time-format '%d/%m/%Y %H:%M:%S' or '%m/%d/%Y %H:%M:%S' says it";
    if (text.empty()) return form.date == Date::us ? day_or_month : no_time;
    form.between = text.front();
    const bool is_sure = form.date == Date::log ? take(text, ':')
                                                : take_word(text, "T") ||
                                                      (form.date != Date::basic && take(text, ' '));
    if (!is_sure || !take_time_of_day(text, civil, form, half)) return no_time;
    if (!take_zone(text, civil, form)) return no_time;
    if (half == HalfOfDay::none && form.date == Date::us) return day_or_month;
    if (!add_half(civil, half)) return "no such time of day";
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
    bool has_digits = true;
    const auto two = [&](std::size_t at) {
        const auto tens = static_cast<unsigned>(text[at] - '0');
        const auto ones = static_cast<unsigned>(text[at + 1] - '0');
        has_digits = has_digits && tens < 10 && ones < 10;
        return tens * 10 + ones;
    };
    const year_month_day date{year{static_cast<int>(two(0) * 100 + two(2))}, month{two(5)},
                              day{two(8)}};
    const unsigned hours = two(11);
    const unsigned minutes = two(14);
    const unsigned second = two(17);
    constexpr year first{1678};
    constexpr year last{2261};
    const bool is_sure = has_digits && date.ok() && date.year() >= first && date.year() <= last &&
                         hours < 24 && minutes < 60 && second < 60;
    if (!is_sure) return false;
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

/// Eight digits that are a day from 1900 to 2099.
bool looks_like_date(std::string_view text) {
    if (text.size() != 8 || count_digits(text) != 8) return false;
    CivilTime civil;
    TimeForm form;
    EventTime time;
    return take_date(text, civil, form) && civil.year >= 1900 && civil.year < 2100 &&
           moment_of(civil, {}, time) == nullptr;
}

void append_number(std::string& out, std::int64_t ns, std::int64_t unit_ns) {
    const bool is_negative = ns < 0;
    const std::uint64_t size = is_negative ? std::uint64_t{0} - static_cast<std::uint64_t>(ns)
                                           : static_cast<std::uint64_t>(ns);
    const auto unit = static_cast<std::uint64_t>(unit_ns);
    if (is_negative) out += '-';
    const fmt::format_int whole(size / unit);
    out.append(whole.data(), whole.size());
    if (size % unit == 0) return;
    // So many places that read_time() gives the same nanosecond where the fraction has no end.
    constexpr Wide scale = 1'000'000'000'000'000'000;
    const Wide part = Wide{size % unit} * scale;
    const bool is_rounded_up = !is_negative && part % unit_ns != 0;
    const auto places = static_cast<std::uint64_t>(part / unit_ns + (is_rounded_up ? 1 : 0));
    fmt::format_to(std::back_inserter(out), ".{:018}", places);
    out.erase(out.find_last_not_of('0') + 1);
}

void append_offset(std::string& out, const CivilTime& civil, TimeForm::Offset offset, bool is_utc) {
    using Offset = TimeForm::Offset;
    if (offset == Offset::none) return;
    if (is_utc && (offset == Offset::z || offset == Offset::colon || offset == Offset::basic)) {
        out += 'Z';
        return;
    }
    if (is_utc && offset == Offset::utc) {
        out += " UTC";
        return;
    }
    const bool has_colon =
        offset == Offset::z || offset == Offset::colon || offset == Offset::space_colon;
    const bool is_apart =
        offset == Offset::utc || offset == Offset::space || offset == Offset::space_colon;
    const std::int64_t size = civil.offset_s < 0 ? -civil.offset_s : civil.offset_s;
    fmt::format_to(std::back_inserter(out), "{}{}{:02}{}{:02}", is_apart ? " " : "",
                   civil.offset_s < 0 ? '-' : '+', size / 3600, has_colon ? ":" : "",
                   size / 60 % 60);
}

void append_date(std::string& out, EventTime time, TimeForm form, const TimeZone& zone) {
    using Date = TimeForm::Date;
    // An offset of whole minutes can be written; before standard time there are others.
    CivilTime civil = civil_of(time, zone);
    bool is_utc = zone.is_utc();
    if (civil.offset_s % 60 != 0 && form.offset != TimeForm::Offset::none) {
        civil = civil_of(time, {});
        is_utc = true;
    }
    const auto to = std::back_inserter(out);
    const bool is_basic = form.date == Date::basic;
    switch (form.date) {
        case Date::us:
            fmt::format_to(to, "{:02}/{:02}/{:04}", civil.month, civil.day, civil.year);
            break;
        case Date::log:
            fmt::format_to(to, "{:02}/{}/{:04}", civil.day, month_name(civil.month).substr(0, 3),
                           civil.year);
            break;
        default: {
            const char* const between = is_basic ? "" : form.date == Date::slashed ? "/" : "-";
            fmt::format_to(to, "{:04}{}{:02}{}{:02}", civil.year, between, civil.month, between,
                           civil.day);
        }
    }
    const bool is_alone = form.between == '\0';
    if (is_alone && civil.hour == 0 && civil.minute == 0 && civil.second == 0 && civil.ns == 0) {
        return;
    }
    out += is_alone ? 'T' : form.between;
    const char* const between = is_basic ? "" : ":";
    const int hour = form.date == Date::us ? (civil.hour + 11) % 12 + 1 : civil.hour;
    fmt::format_to(to, "{:02}{}{:02}{}{:02}", hour, between, civil.minute, between, civil.second);
    if (civil.ns != 0) {
        fmt::format_to(to, ".{:09}", civil.ns);
        out.erase(out.find_last_not_of('0') + 1);
    }
    if (form.date == Date::us) out += civil.hour < 12 ? " AM" : " PM";
    append_offset(out, civil, form.offset, is_utc);
}

}  // namespace

detail::CsvFault read_time(std::string_view text, const TimeFormat& format, EventTime& time,
                           TimeForm& form) {
    text = detail::trimmed(text);
    if (format.pattern) {
        form.kind = TimeForm::Kind::pattern;
        return format.pattern->read(text, format.zone, time);
    }
    if (is_plain_date(text)) {
        if (scan_iso(text, format.zone, time, form)) return nullptr;
        return read_date(text, format.zone, time, form);
    }
    std::int64_t count = 0;
    std::int64_t ns = 0;
    if (detail::read_integer(text, count) == nullptr &&
        !__builtin_mul_overflow(count, format.unit_ns, &ns)) {
        form.kind = TimeForm::Kind::integer;
        time = EventTime::of_ns(ns);
        return nullptr;
    }
    detail::CsvFault fault = nullptr;
    if (take_decimal(text, format, time, fault)) {
        form.kind = TimeForm::Kind::decimal;
        return fault;
    }
    return read_date(text, format.zone, time, form);
}

void append_time(std::string& out, EventTime time, const TimeFormat& format) {
    const TimeForm form = format.form.load(std::memory_order_relaxed);
    switch (form.kind) {
        case TimeForm::Kind::date:
            return append_date(out, time, form, format.zone);
        case TimeForm::Kind::pattern:
            return format.pattern->append(out, time, format.zone);
        case TimeForm::Kind::asked:
            return format.output->append(out, time, format.zone);
        default:
            append_number(out, time.ns(), format.unit_ns);
    }
}

detail::CsvFault TimeReader::read(std::string_view text, EventTime& time) {
    const detail::CsvFault fault = read_time(text, *format_, time, form_);
    if (fault != nullptr || has_numbers_ || format_->is_unit_given) return fault;
    if (form_.kind == TimeForm::Kind::integer && looks_like_date(detail::trimmed(text))) {
        return "eight digits: a date (--time-format %Y%m%d) or a number (--unit ms)?";
    }
    return nullptr;
}

void TimeReader::take_first() {
    using Kind = TimeForm::Kind;
    has_taken_ = true;
    has_numbers_ = form_.kind == Kind::integer || form_.kind == Kind::decimal;
    TimeForm none;
    if (!format_->form.compare_exchange_strong(none, form_, std::memory_order_relaxed)) return;
    if (form_.kind == Kind::integer && !format_->misfit.empty()) throw GraphError(format_->misfit);
}

}  // namespace strid::tool
