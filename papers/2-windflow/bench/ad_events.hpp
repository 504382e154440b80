// SPDX-License-Identifier: Apache-2.0
//
// Events of ads in the shape of the Yahoo streaming benchmark: 100 campaigns of 10 ads each, a
// third of the events views, times that rise with the number of the event and lie up to a bound
// behind it. Shared by everything that is measured on them. Stateless: an event is a function of
// its number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strid::bench {

inline constexpr std::uint32_t campaigns = 100;
inline constexpr std::uint32_t ads = 10 * campaigns;
/// Events per second of event time: a window of ten seconds has a million of them.
inline constexpr std::int64_t events_per_ms = 100;
/// How far an event may lie behind its place.
inline constexpr std::int64_t disorder_ms_max = 200;
inline constexpr std::int64_t window_ms = 10'000;

/// Event `number` as an `Event` with the members user, page, ad, ad_type, event_type, time_ms, ip.
template <class Event>
[[nodiscard, gnu::always_inline]] inline Event make_event(std::uint64_t number) noexcept {
    constexpr std::array<std::string_view, 8> ad_types{
        "banner", "modal", "sponsored-search", "mail", "mobile", "banner", "modal", "mail"};
    constexpr std::array<std::string_view, 3> event_types{"view", "click", "purchase"};
    std::uint64_t bits = number * 0x9e3779b97f4a7c15ULL;  // SplitMix64
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebULL;
    bits ^= bits >> 31;
    const auto scaled = [bits](unsigned from_bit, std::uint64_t limit) {
        return (bits >> from_bit & 0xffff) * limit >> 16;
    };
    const auto behind_ms = static_cast<std::int64_t>(scaled(48, disorder_ms_max + 1));
    return Event{.user = static_cast<std::uint32_t>(bits & 0xfff),
                 .page = static_cast<std::uint32_t>(bits >> 12 & 0xfff),
                 .ad = static_cast<std::uint32_t>(scaled(32, ads)),
                 .ad_type = ad_types[bits >> 24 & 7],
                 .event_type = event_types[scaled(16, event_types.size())],
                 .time_ms = static_cast<std::int64_t>(number) / events_per_ms - behind_ms,
                 .ip = "10.0.17.94"};
}

/// The campaign of each ad, by its number.
[[nodiscard]] inline std::vector<std::uint32_t> make_campaigns() {
    std::vector<std::uint32_t> campaign_of;
    for (std::uint32_t ad = 0; ad < ads; ++ad) campaign_of.push_back(ad % campaigns);
    return campaign_of;
}

}  // namespace strid::bench
