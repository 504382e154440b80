// SPDX-License-Identifier: Apache-2.0
//
// hand_latency [RATE] [SECONDS]: latency percentiles of the hand-written two-thread pipeline, from
// the scheduled time of each record, spinning and parking.
#include "latency.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    using namespace strid::bench::hand;
    const std::uint64_t rate = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
    const std::uint64_t seconds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 3;
    if (rate == 0 || seconds == 0) {
        std::fprintf(stderr, "%s: the rate and the seconds are whole numbers above 0\n", argv[0]);
        return 1;
    }
    for (const Waiting waiting : {Waiting::spin, Waiting::park}) {
        const LatencyResult result = run_pipeline_latency(rate * seconds, rate, waiting);
        std::printf("%s: p50 %.2f us, p95 %.2f us, p99 %.2f us, max %.2f us\n",
                    waiting == Waiting::spin ? "spin" : "park",
                    static_cast<double>(result.percentile_ns(50)) / 1e3,
                    static_cast<double>(result.percentile_ns(95)) / 1e3,
                    static_cast<double>(result.percentile_ns(99)) / 1e3,
                    static_cast<double>(result.percentile_ns(100)) / 1e3);
    }
    return 0;
}
