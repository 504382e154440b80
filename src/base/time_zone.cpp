// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <chrono>
#include <optional>

#include <cctz/time_zone.h>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/time_zone.hpp>

namespace strid {

struct TimeZone::Rules {
    cctz::time_zone zone;
    std::string name;
};

namespace {

using Moment = cctz::time_point<cctz::seconds>;
using CivilLookup = cctz::time_zone::civil_lookup;

CivilLookup look_up(const cctz::time_zone& zone, std::int64_t local) {
    return zone.lookup(cctz::civil_second() + local);
}

std::int64_t seconds(Moment moment) noexcept {
    return moment.time_since_epoch().count();
}

/// `+02:00`, `+0200`, `-05`: seconds east.
std::optional<std::int64_t> read_offset(std::string_view text) {
    if (text.size() < 3 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
    std::string digits(text.substr(1));
    if (digits.size() == 5 && digits[2] == ':') digits.erase(2, 1);
    if (digits.size() == 2) digits += "00";
    int number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    const bool is_number = error == std::errc{} && stop == end && digits.size() == 4;
    if (!is_number || number < 0 || number / 100 > 23 || number % 100 > 59) return std::nullopt;
    const std::int64_t east = (number / 100 * 60 + number % 100) * std::int64_t{60};
    return text[0] == '-' ? -east : east;
}

}  // namespace

TimeZone TimeZone::named(std::string_view name) {
    TimeZone result;
    if (name == "UTC" || name == "Z" || name == "GMT") return result;
    auto rules = std::make_shared<Rules>();
    rules->name = name;
    if (const auto east = read_offset(name)) {
        if (*east == 0) return result;
        rules->zone = cctz::fixed_time_zone(cctz::seconds(*east));
    } else if (name.empty() || name.starts_with('/') || name.find("..") != std::string_view::npos ||
               !cctz::load_time_zone(rules->name, &rules->zone)) {
        throw Error(fmt::format(
            "no time zone '{}': zones have the names of the IANA database, as Europe/Berlin and "
            "America/New_York (where it is installed: /usr/share/zoneinfo), or are offsets as "
            "+02:00",
            name));
    }
    result.rules_ = std::move(rules);
    return result;
}

std::string TimeZone::name() const {
    return rules_ == nullptr ? "UTC" : rules_->name;
}

std::int64_t TimeZone::offset_at(std::int64_t moment) const noexcept {
    if (rules_ == nullptr) return 0;
    return rules_->zone.lookup(Moment{cctz::seconds(moment)}).offset;
}

std::int64_t TimeZone::moment_of(std::int64_t local) const noexcept {
    if (rules_ == nullptr) return local;
    return seconds(look_up(rules_->zone, local).pre);
}

std::int64_t TimeZone::shown_again_after(std::int64_t moment) const noexcept {
    if (rules_ == nullptr) return 0;
    const CivilLookup found = look_up(rules_->zone, moment + offset_at(moment));
    const bool is_first = found.kind == CivilLookup::REPEATED && seconds(found.pre) == moment;
    return is_first ? seconds(found.post) - moment : 0;
}

std::optional<std::int64_t> TimeZone::offset_named(std::string_view abbreviation,
                                                   std::int64_t local) const {
    if (rules_ == nullptr) return std::nullopt;
    const CivilLookup found = look_up(rules_->zone, local);
    for (const Moment moment : {found.pre, found.post}) {
        const auto at = rules_->zone.lookup(moment);
        if (at.abbr == abbreviation) return at.offset;
    }
    return std::nullopt;
}

std::int64_t TimeZone::first_moment_from(std::int64_t local) const noexcept {
    if (rules_ == nullptr) return local;
    const CivilLookup found = look_up(rules_->zone, local);
    return seconds(found.kind == CivilLookup::SKIPPED ? found.trans : found.pre);
}

}  // namespace strid
