// SPDX-License-Identifier: Apache-2.0
#include "call_text.hpp"

#include <array>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "call.hpp"

namespace strid::apps::voip_stream {

namespace {

constexpr std::uint32_t day_seconds = 86'400;

/// The number that `count` digits at `at` are, or a large one.
unsigned digits(const char* at, std::size_t count) noexcept {
    unsigned number = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto digit = static_cast<unsigned>(static_cast<unsigned char>(at[i])) - '0';
        if (digit > 9) return 1'000'000;
        number = number * 10 + digit;
    }
    return number;
}

/// Seconds that `text`, what stands behind the seconds of a time, is ahead of UTC. False: it is no
/// fraction and no zone.
bool read_zone(std::string_view text, std::int64_t& ahead) noexcept {
    ahead = 0;
    if (!text.empty() && text.front() == '.') {
        std::size_t end = 1;
        while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
        if (end == 1) return false;
        text.remove_prefix(end);
    }
    if (text.empty() || text == "Z") return true;
    const bool colon = text.size() == 6 && text[3] == ':';
    if ((text.front() != '+' && text.front() != '-') || (text.size() != 5 && !colon)) return false;
    const unsigned hours = digits(text.data() + 1, 2);
    const unsigned minutes = digits(text.data() + (colon ? 4 : 3), 2);
    if (hours > 23 || minutes > 59) return false;
    ahead = std::int64_t{hours} * 3600 + minutes * 60;
    if (text.front() == '-') ahead = -ahead;
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
    using namespace std::chrono;
    const sys_days day{days{second.since_1970 / day_seconds}};
    const year_month_day date{day};
    const unsigned rest = second.since_1970 % day_seconds;
    fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
                   static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                   static_cast<unsigned>(date.day()), rest / 3600, rest / 60 % 60, rest % 60);
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
    const unsigned hour = digits(text.data() + 11, 2);
    const unsigned minute = digits(text.data() + 14, 2);
    const unsigned second = digits(text.data() + 17, 2);
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
    const unsigned number = digits(text, 4);
    const unsigned in_year = digits(text + 5, 2);
    const unsigned in_month = digits(text + 8, 2);
    if (number < 1 || number > 9999 || in_year > 12 || in_month > 31) return false;
    const year_month_day date{year{static_cast<int>(number)}, month{in_year}, day{in_month}};
    if (!date.ok()) return false;
    day_ = std::int64_t{sys_days{date}.time_since_epoch().count()} * day_seconds;
    return true;
}

}  // namespace strid::apps::voip_stream
