// SPDX-License-Identifier: Apache-2.0
#include "fix/time_text.hpp"

#include <fmt/format.h>

#include <strid/base/civil_time.hpp>
#include <strid/engine/base/time_fields.hpp>

namespace strid::exchange::fix {

std::string utc_timestamp(std::chrono::system_clock::time_point time) {
    const CivilTime civil = civil_of(EventTime{time.time_since_epoch()});
    return fmt::format("{:04}{:02}{:02}-{:02}:{:02}:{:02}.{:03}", civil.year, civil.month,
                       civil.day, civil.hour, civil.minute, civil.second, civil.ns / 1'000'000);
}

bool is_utc_timestamp(std::string_view text) noexcept {
    constexpr std::string_view form = "00000000-00:00:00.000";
    if (text.size() != form.size() && text.size() != form.size() - 4) return false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (form[at] == '0' ? !detail::is_digit(text[at]) : text[at] != form[at]) return false;
    }
    const auto number = [text](std::size_t at) { return detail::two_digits(text.data() + at); };
    return number(4) >= 1 && number(4) <= 12 && number(6) >= 1 && number(6) <= 31 &&
           number(9) <= 23 && number(12) <= 59 && number(15) <= 60;
}

}  // namespace strid::exchange::fix
