// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include <strid/engine/base/time_fields.hpp>

namespace strid::detail {

namespace {

constexpr std::array<std::string_view, 12> months = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> weekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                      "Thursday", "Friday", "Saturday"};

constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The longest name, or the first three letters of one.
template <std::size_t size>
bool take_name(std::string_view& text, const std::array<std::string_view, size>& names,
               int& index) noexcept {
    for (std::size_t i = 0; i < size; ++i) {
        if (!take_word(text, names[i]) && !take_word(text, names[i].substr(0, 3))) continue;
        index = static_cast<int>(i);
        return true;
    }
    return false;
}

struct NamedOffset {
    std::string_view name;
    int minutes;
};

/// Those of RFC 5322 and those that no two zones use for different offsets today. Not IST (of
/// India, Ireland, Israel), BST and others of that kind: the zone of the text decides on them.
constexpr std::array<NamedOffset, 26> named_offsets = {
    {{"UTC", 0},     {"GMT", 0},    {"Z", 0},      {"EST", -300}, {"EDT", -240}, {"CST", -360},
     {"CDT", -300},  {"MST", -420}, {"MDT", -360}, {"PST", -480}, {"PDT", -420}, {"AKST", -540},
     {"AKDT", -480}, {"HST", -600}, {"WET", 0},    {"WEST", 60},  {"CET", 60},   {"CEST", 120},
     {"EET", 120},   {"EEST", 180}, {"MSK", 180},  {"JST", 540},  {"KST", 540},  {"ACST", 570},
     {"AEST", 600},  {"AEDT", 660}}};

bool is_letter(char c) noexcept {
    return lower(c) >= 'a' && lower(c) <= 'z';
}

}  // namespace

bool take_zone_name(std::string_view& text, const TimeZone& zone, CivilTime& civil) {
    std::array<char, 5> name{};
    std::size_t letters = 0;
    while (letters < text.size() && is_letter(text[letters])) {
        if (letters == name.size()) return false;
        const char c = lower(text[letters]);
        name[letters++] = static_cast<char>(c - 'a' + 'A');
    }
    const std::string_view word(name.data(), letters);
    std::optional<std::int64_t> offset;
    if (letters >= 3 && civil.month >= 1 && civil.month <= 12 && civil.day >= 1) {
        const std::int64_t local =
            day_number(civil) * day_s + (civil.hour * 60 + civil.minute) * 60;
        offset = zone.offset_named(word, local);
    }
    if (!offset) {
        const auto* const known =
            std::find_if(named_offsets.begin(), named_offsets.end(),
                         [word](const NamedOffset& one) { return one.name == word; });
        if (known == named_offsets.end()) return false;
        offset = known->minutes * std::int64_t{60};
    }
    civil.has_offset = true;
    civil.offset_s = *offset;
    text.remove_prefix(letters);
    return true;
}

bool add_half(CivilTime& civil, HalfOfDay half) noexcept {
    if (half == HalfOfDay::none) return true;
    if (civil.hour < 1 || civil.hour > 12) return false;
    civil.hour = civil.hour % 12 + (half == HalfOfDay::pm ? 12 : 0);
    return true;
}

bool take_word(std::string_view& text, std::string_view word) noexcept {
    if (text.size() < word.size()) return false;
    const bool is_same = std::equal(word.begin(), word.end(), text.begin(),
                                    [](char a, char b) { return lower(a) == lower(b); });
    if (is_same) text.remove_prefix(word.size());
    return is_same;
}

bool take_number(std::string_view& text, std::size_t digits_min, std::size_t digits_max,
                 int& number) noexcept {
    std::size_t digits = 0;
    int value = 0;
    for (; digits < digits_max && digits < text.size() && is_digit(text[digits]); ++digits) {
        value = value * 10 + (text[digits] - '0');
    }
    if (digits < digits_min) return false;
    number = value;
    text.remove_prefix(digits);
    return true;
}

bool take_fraction(std::string_view& text, std::int64_t& ns) noexcept {
    std::int64_t scale = second_ns / 10;
    std::size_t digits = 0;
    for (; digits < text.size() && is_digit(text[digits]); ++digits) {
        ns += scale * (text[digits] - '0');
        scale /= 10;
    }
    text.remove_prefix(digits);
    return digits != 0;
}

bool take_half(std::string_view& text, HalfOfDay& half) noexcept {
    if (take_word(text, "AM")) {
        half = HalfOfDay::am;
    } else if (take_word(text, "PM")) {
        half = HalfOfDay::pm;
    } else {
        return false;
    }
    return true;
}

bool take_month(std::string_view& text, int& month) noexcept {
    if (!take_name(text, months, month)) return false;
    ++month;
    return true;
}

bool take_weekday(std::string_view& text) noexcept {
    int index = 0;
    return take_name(text, weekdays, index);
}

bool take_offset(std::string_view& text, CivilTime& civil) noexcept {
    std::string_view left = text;
    const bool is_west = left.starts_with('-');
    if (!take(left, '+') && !take(left, '-')) return false;
    int hours = 0;
    int minutes = 0;
    if (!take_number(left, 2, 2, hours)) return false;
    const bool has_minutes = take(left, ':') || (!left.empty() && is_digit(left.front()));
    if (has_minutes && !take_number(left, 2, 2, minutes)) return false;
    if (hours > 23 || minutes > 59) return false;
    civil.has_offset = true;
    civil.offset_s = (is_west ? -1 : 1) * (hours * 60 + minutes) * std::int64_t{60};
    text = left;
    return true;
}

std::string_view month_name(int month) noexcept {
    return months[static_cast<std::size_t>(month - 1)];
}

std::string_view weekday_name(std::int64_t day) noexcept {
    const std::int64_t index = (day + 4) % 7;  // 1970 began on a Thursday
    return weekdays[static_cast<std::size_t>(index < 0 ? index + 7 : index)];
}

}  // namespace strid::detail
