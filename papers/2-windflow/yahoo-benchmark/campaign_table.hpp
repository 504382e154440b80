// SPDX-License-Identifier: Apache-2.0
//
// Which campaign an ad belongs to: the table that views of ads are looked up in. Ads are numbers
// that lie near each other and index an array, so that a look-up is two loads. The file may be
// exchanged while events are counted.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <strid/connector/table_file.hpp>
#include <strid/operator/current_table.hpp>
#include <strid/operator/lookup_table.hpp>

namespace strid::apps::yahoo_benchmark {

/// One ad of one campaign: a row of the table's file.
struct AdOfCampaign {
    std::uint32_t ad;
    std::uint32_t campaign;
};

/// The campaign by ad.
using CampaignTable = LookupTable<std::uint32_t, std::uint32_t>;
using Campaigns = CurrentTable<CampaignTable>;

/// Ads are numbered below it.
inline constexpr std::uint32_t ads_max = std::uint32_t{1} << 24;
/// Campaigns are numbered below it.
inline constexpr std::uint32_t campaigns_max = std::numeric_limits<std::uint32_t>::max();

/// The table of a file of rows `ad,campaign`; plain, gzip or zstd. Throws InputOutputError, with
/// the file and the line, where it cannot be read, a row is malformed, an ad is `ads_max` or more,
/// is named twice, or has a campaign that is `campaigns_max`.
[[nodiscard]] TableFile<CampaignTable> read_campaigns(const std::string& path,
                                                      const TableFileOptions& options = {});

}  // namespace strid::apps::yahoo_benchmark
