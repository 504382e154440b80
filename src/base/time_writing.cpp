// SPDX-License-Identifier: Apache-2.0
//
// The writing half of base/time_text.hpp.
#include <iterator>

#include <fmt/format.h>

#include <strid/base/time_text.hpp>
#include <strid/engine/base/time_fields.hpp>

namespace strid {

namespace {

__extension__ using Wide = __int128;

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
            fmt::format_to(to, "{:02}/{}/{:04}", civil.day,
                           detail::month_name(civil.month).substr(0, 3), civil.year);
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

void append_time(std::string& out, EventTime time, TimeForm form, const TimeNotation& notation) {
    if (form.kind == TimeForm::Kind::date) return append_date(out, time, form, notation.zone);
    append_number(out, time.ns(), notation.unit_ns);
}

}  // namespace strid
