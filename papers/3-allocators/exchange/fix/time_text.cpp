// SPDX-License-Identifier: Apache-2.0
#include "fix/time_text.hpp"

#include <fmt/format.h>

namespace strid::exchange::fix {

std::string utc_timestamp(std::chrono::system_clock::time_point time) {
    using namespace std::chrono;
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{floor<milliseconds>(time - day)};
    return fmt::format("{:04}{:02}{:02}-{:02}:{:02}:{:02}.{:03}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                       clock.subseconds().count());
}

bool is_utc_timestamp(std::string_view text) noexcept {
    constexpr std::string_view form = "00000000-00:00:00.000";
    if (text.size() != form.size() && text.size() != form.size() - 4) return false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool digit = text[at] >= '0' && text[at] <= '9';
        if (form[at] == '0' ? !digit : text[at] != form[at]) return false;
    }
    const auto number = [text](std::size_t at) {
        return (text[at] - '0') * 10 + text[at + 1] - '0';
    };
    return number(4) >= 1 && number(4) <= 12 && number(6) >= 1 && number(6) <= 31 &&
           number(9) <= 23 && number(12) <= 59 && number(15) <= 60;
}

}  // namespace strid::exchange::fix
