// SPDX-License-Identifier: Apache-2.0
//
// hand_traffic_monitoring INPUT --roads ROADS.csv [--duration SECONDS]: the rate of the
// hand-written traffic monitoring. With --once [--output FILE]: the answer of one pass.
#include "traffic_monitoring.hpp"

#include <cstdio>
#include <ostream>

#include <fmt/format.h>

#include "bench/hand/options.hpp"

namespace {

using namespace strid::bench::hand;

void run(const Options& options) {
    const std::vector<VehicleFix> input = load_fixes(options.input);
    if (options.once) {
        write_output(options.output, [&](std::ostream& stream) {
            TrafficMonitor monitor(options.roads);
            for (const VehicleFix& fix : input) {
                monitor.add(fix, [&](const MeanSpeed& update) {
                    stream << fmt::format("{},{},{}\n", update.road, update.mean, update.count);
                });
            }
        });
        return;
    }
    const TrafficMonitoringResult result =
        run_traffic_monitoring(input, options.roads, options.duration);
    std::printf("traffic monitoring %8.2f M records/s, %.1f%% on a road\n",
                result.records_per_second() / 1e6,
                100.0 * static_cast<double>(result.updates) / static_cast<double>(result.records));
}

}  // namespace

int main(int argc, char** argv) {
    return run_main(argc, argv, run);
}
