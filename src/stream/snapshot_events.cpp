// SPDX-License-Identifier: Apache-2.0
#include "snapshot_events.hpp"

#include <array>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/log.hpp>

namespace strid {

void log_stored(const SnapshotDescription& snapshot, std::int64_t begun_ns) {
    if (!has_log()) return;
    const double seconds = static_cast<double>(now_ns() - begun_ns) / 1e9;
    const std::string text =
        fmt::format("{}: snapshot {} is stored", snapshot.graph, snapshot.number);
    const std::array<LogField, 4> fields{{{"graph", snapshot.graph},
                                          {"number", snapshot.number},
                                          {"seconds", seconds},
                                          {"state_bytes", snapshot.state_bytes}}};
    log_event({.event = "snapshot", .text = text, .fields = fields});
}

void log_restored(const std::string& graph, std::uint64_t number) {
    if (!has_log()) return;
    const std::string text = fmt::format("{}: goes on from snapshot {}", graph, number);
    const std::array<LogField, 2> fields{{{"graph", graph}, {"number", number}}};
    log_event({.event = "restored", .text = text, .fields = fields});
}

}  // namespace strid
