// SPDX-License-Identifier: Apache-2.0
#include "applications.hpp"

#include <algorithm>

namespace strid::apps {

namespace {

constexpr ApplicationName table[] = {
    {"word-count", "counts the words of a text"},
    {"spike-detection",
     "reports sensor readings that are far from the recent mean of their device"},
    {"fraud-detection",
     "reports transactions that end an unlikely sequence of states of their account"},
    {"flights", "delays by airport, rotations of aircraft, and flights in their weather"},
    {"yahoo-benchmark", "counts the views of the ads of each campaign, in windows of event time"},
    {"traffic-monitoring",
     "matches positions of vehicles to roads and keeps the mean speed of each road"},
    {"linear-road", "the Linear Road benchmark: tolls, accidents and accounts of expressways"},
    {"voip-stream", "scores calls: how much their caller behaves like a telemarketer"},
};

}  // namespace

std::span<const ApplicationName> application_table() noexcept {
    return table;
}

std::string_view summary_of(std::string_view name) noexcept {
    const auto* const row = std::ranges::find(table, name, &ApplicationName::name);
    return row != std::end(table) ? row->summary : std::string_view{};
}

}  // namespace strid::apps
