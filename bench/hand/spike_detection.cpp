// SPDX-License-Identifier: Apache-2.0
//
// hand_spike_detection INPUT [--duration SECONDS]: the rate of the hand-written spike detection.
// With
// --once [--output FILE]: the answer of one pass.
#include "spike_detection.hpp"

#include <cstdio>
#include <ostream>

#include <fmt/format.h>

#include "options.hpp"

namespace {

using namespace strid::bench::hand;

void run(const Options& options) {
    const std::vector<Reading> input = load_readings(options.input);
    if (options.once) {
        write_output(options.output, [&](std::ostream& stream) {
            SpikeDetector detector;
            for (const Reading& reading : input) {
                detector.add(reading, [&](const Spike& spike) {
                    stream << fmt::format("{},{},{}\n", spike.device, spike.value, spike.mean);
                });
            }
        });
        return;
    }
    const SpikeDetectionResult result = run_spike_detection(input, options.duration);
    std::printf("spike detection %8.2f M records/s, %.1f%% spikes\n",
                result.records_per_second() / 1e6,
                100.0 * static_cast<double>(result.spikes) / static_cast<double>(result.records));
}

}  // namespace

int main(int argc, char** argv) {
    return run_main(argc, argv, run);
}
