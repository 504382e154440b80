// SPDX-License-Identifier: Apache-2.0
//
// Which campaign an ad belongs to: the static table that views of ads are joined with. Ads are
// numbers and index an array, so that a look-up is one load. Immutable once it is read; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace strid::apps::yahoo_benchmark {

/// One ad of one campaign: a row of the table's file.
struct AdOfCampaign {
    std::uint32_t ad;
    std::uint32_t campaign;
};

class CampaignTable {
  public:
    using Id = std::uint32_t;
    /// What no campaign is numbered.
    static constexpr Id none = std::numeric_limits<Id>::max();
    /// Ads are numbered below it: the array then takes at most 64 MiB.
    static constexpr Id ads_max = Id{1} << 24;

    CampaignTable() = default;
    /// Reads rows of `ad,campaign`; plain, gzip or zstd. Throws InputOutputError, with the file and
    /// the line, where it cannot be read, a row is malformed, an ad is `ads_max` or more, is named
    /// twice, or has the campaign `none`.
    explicit CampaignTable(const std::string& path);

    /// The campaign of the ad; `none` where the table has no such ad.
    [[nodiscard]] Id find(Id ad) const noexcept {
        return ad < campaigns_.size() ? campaigns_[ad] : none;
    }
    /// Of every ad up to the last one that is named, by its number; `none` for those in between.
    [[nodiscard]] const std::vector<Id>& campaigns() const noexcept { return campaigns_; }
    /// Takes a row in. Gives what is wrong with it, if anything: then the table stays as it was.
    [[nodiscard]] std::string add(const AdOfCampaign& row);

  private:
    std::vector<Id> campaigns_;  // by ad
};

}  // namespace strid::apps::yahoo_benchmark
