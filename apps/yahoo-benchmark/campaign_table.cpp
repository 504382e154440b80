// SPDX-License-Identifier: Apache-2.0
#include "campaign_table.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include <strid/connector/csv_file.hpp>

namespace strid::apps::yahoo_benchmark {

namespace {

/// Reads a file of rows to its end, into a table. A row that the table refuses is malformed.
class TableReader : private CsvFile<AdOfCampaign> {
  public:
    TableReader(const std::string& path, CampaignTable& table)
        : CsvFile<AdOfCampaign>(path), table_(table) {}

    void read() {
        using namespace std::chrono_literals;
        constexpr std::size_t rows_at_once = 4096;
        open({});
        for (;;) {
            const SourceStatus status = poll(*this, rows_at_once);
            if (status == SourceStatus::finished) return;
            if (status == SourceStatus::idle) std::this_thread::sleep_for(1ms);  // of a pipe
        }
    }

    bool operator()(const AdOfCampaign& row) {
        const std::string fault = table_.add(row);
        if (!fault.empty()) refuse(line_number_, fault, {});
        return true;
    }
    void count_malformed(std::uint64_t /*count*/) noexcept {}

  private:
    CampaignTable& table_;
};

}  // namespace

CampaignTable::CampaignTable(const std::string& path) {
    TableReader(path, *this).read();
}

std::string CampaignTable::add(const AdOfCampaign& row) {
    if (row.ad >= ads_max) {
        return fmt::format("ad {} is not below {}", row.ad, ads_max);
    }
    if (row.campaign == none) return fmt::format("campaign {} is not below {}", row.campaign, none);
    if (find(row.ad) != none) return fmt::format("ad {} is named twice", row.ad);
    if (row.ad >= campaigns_.size()) campaigns_.resize(row.ad + std::size_t{1}, none);
    campaigns_[row.ad] = row.campaign;
    return {};
}

}  // namespace strid::apps::yahoo_benchmark
