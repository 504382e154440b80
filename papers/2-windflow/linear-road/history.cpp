// SPDX-License-Identifier: Apache-2.0
#include "history.hpp"

namespace strid::apps::linear_road {

namespace {

struct HistoryRow {
    std::int32_t car;
    std::int32_t day;
    std::int32_t expressway;
    std::int64_t toll;
};

std::string fault_of(const HistoryRow& row) {
    if (row.car < 0) return "VID " + std::to_string(row.car) + " is negative";
    if (row.day < 1 || row.day > days_max) {
        return "Day " + std::to_string(row.day) + " is not between 1 and " +
               std::to_string(days_max);
    }
    if (row.expressway < 0 || row.expressway >= expressways_max) {
        return "there is no expressway " + std::to_string(row.expressway);
    }
    if (row.toll < 0) return "Toll " + std::to_string(row.toll) + " is negative";
    return {};
}

}  // namespace

TableFile<HistoryTable> read_history(const std::string& path) {
    using Check = std::string (*)(const HistoryRow&);
    const auto entry_of = [](const HistoryRow& row) -> HistoryTable::Entry {
        return {history_key(row.car, row.day, row.expressway), row.toll};
    };
    return {path,
            {.user = "--history"},
            connector::reading<HistoryTable, HistoryRow>(Check{fault_of}, entry_of)};
}

}  // namespace strid::apps::linear_road
