// SPDX-License-Identifier: Apache-2.0
#include "campaign_table.hpp"

#include <fmt/format.h>

namespace strid::apps::yahoo_benchmark {

namespace {

/// The fault of a row, if it has one.
std::string fault_of(const AdOfCampaign& row) {
    if (row.ad >= ads_max) return fmt::format("ad {} is not below {}", row.ad, ads_max);
    if (row.campaign >= campaigns_max) {
        return fmt::format("campaign {} is not below {}", row.campaign, campaigns_max);
    }
    return {};
}

}  // namespace

TableFile<CampaignTable> read_campaigns(const std::string& path, const TableFileOptions& options) {
    return lookup_file<&AdOfCampaign::ad, &AdOfCampaign::campaign>(path, options, fault_of);
}

}  // namespace strid::apps::yahoo_benchmark
