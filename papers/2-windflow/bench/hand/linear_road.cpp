// SPDX-License-Identifier: Apache-2.0
//
// hand_linear_road INPUT [--duration SECONDS]: the rate of the hand-written Linear Road. With
// --once [--output FILE]: the answers of one pass, without a history.
#include "linear_road.hpp"

#include <cstdio>
#include <ostream>

#include <fmt/format.h>

#include "bench/hand/options.hpp"

namespace {

using namespace strid::bench::hand;

std::string row_of(const RoadAnswer& answer) {
    const auto [type, time, subject, detail, amount] = answer;
    if (type == 0) return fmt::format("0,{},{},{},{},{}\n", subject, time, time, detail, amount);
    if (type == 1) return fmt::format("1,{},{},{},{}\n", time, time, subject, detail);
    if (type == 2) return fmt::format("2,{},{},{},{},{}\n", time, time, detail, subject, amount);
    return fmt::format("3,{},{},{},{}\n", time, time, subject, amount);
}

void run(const Options& options) {
    const std::vector<RoadEvent> input = load_road_events(options.input);
    if (options.once) {
        write_output(options.output, [&](std::ostream& stream) {
            const LinearRoad::History history;
            LinearRoad roads(history);
            for (const RoadEvent& event : input) {
                roads.take(event, [&](const RoadAnswer& answer) { stream << row_of(answer); });
            }
        });
        return;
    }
    const LinearRoadResult result = run_linear_road(input, options.duration);
    std::printf("linear road %8.2f M records/s, %.1f%% answers\n",
                result.records_per_second() / 1e6,
                100.0 * static_cast<double>(result.answers) / static_cast<double>(result.records));
}

}  // namespace

int main(int argc, char** argv) {
    return run_main(argc, argv, run);
}
