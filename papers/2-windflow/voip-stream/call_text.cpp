// SPDX-License-Identifier: Apache-2.0
#include "call_text.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <iterator>

#include <fmt/format.h>

#include <strid/base/civil_time.hpp>
#include <strid/engine/base/time_fields.hpp>

#include "call.hpp"

namespace strid::apps::voip_stream {

namespace {

constexpr std::int64_t day_seconds = 86'400;

/// Seconds that `text`, what stands behind the seconds of a time, is ahead of UTC. False: it is no
/// fraction and no zone.
bool read_zone(std::string_view text, std::int64_t& ahead) noexcept {
    ahead = 0;
    std::int64_t ns = 0;
    if (detail::take(text, '.') && !detail::take_fraction(text, ns)) return false;
    if (text.empty() || text == "Z") return true;
    CivilTime civil;
    if (text.size() < 5 || !detail::take_offset(text, civil) || !text.empty()) return false;
    ahead = civil.offset_s;
    return true;
}

}  // namespace

bool from_csv(std::string_view text, Number& number) noexcept {
    if (text.empty() || text.size() > 15) return false;
    std::uint64_t code = 1;
    for (const char c : text) {
        const auto digit = static_cast<unsigned>(static_cast<unsigned char>(c)) - '0';
        if (digit > 9) return false;
        code = code * 10 + digit;
    }
    number.code = code;
    return true;
}

void to_csv(std::string& out, const Number& number) {
    std::array<char, 20> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number.code).ptr;
    out.append(text.data() + 1, end);
}

bool from_csv(std::string_view text, Second& second) noexcept {
    StartReader reader;
    return reader.read(text, second.since_1970) == StartFault::none;
}

void to_csv(std::string& out, const Second& second) {
    const CivilTime civil = civil_of(EventTime{std::chrono::seconds{second.since_1970}});
    fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", civil.year,
                   civil.month, civil.day, civil.hour, civil.minute, civil.second);
}

StartFault StartReader::read(std::string_view text, std::uint32_t& start) noexcept {
    constexpr std::size_t date_bytes = 10;
    constexpr std::size_t least = 19;
    if (text.size() < least || text[10] != 'T' || text[13] != ':' || text[16] != ':')
        return StartFault::no_time;
    if (text.substr(0, date_bytes) != std::string_view(date_.data(), date_bytes)) {
        if (!read_date(text.data())) return StartFault::no_time;
        text.copy(date_.data(), date_bytes);
    }
    const unsigned hour = detail::two_digits(text.data() + 11);
    const unsigned minute = detail::two_digits(text.data() + 14);
    const unsigned second = detail::two_digits(text.data() + 17);
    std::int64_t ahead = 0;
    if (hour > 23 || minute > 59 || second > 59 || !read_zone(text.substr(least), ahead))
        return StartFault::no_time;
    const std::int64_t at = day_ + hour * 3600 + minute * 60 + second - ahead;
    if (at < 0 || at >= end_of_time) return StartFault::out_of_range;
    start = static_cast<std::uint32_t>(at);
    return StartFault::none;
}

bool StartReader::read_date(const char* text) noexcept {
    using namespace std::chrono;
    if (text[4] != '-' || text[7] != '-') return false;
    const unsigned number = detail::two_digits(text) * 100 + detail::two_digits(text + 2);
    const unsigned in_year = detail::two_digits(text + 5);
    const unsigned in_month = detail::two_digits(text + 8);
    if (number < 1 || number > 9999 || in_year > 12 || in_month > 31) return false;
    const year_month_day date{year{static_cast<int>(number)}, month{in_year}, day{in_month}};
    if (!date.ok()) return false;
    day_ = sys_days{date}.time_since_epoch().count() * day_seconds;
    return true;
}

}  // namespace strid::apps::voip_stream
