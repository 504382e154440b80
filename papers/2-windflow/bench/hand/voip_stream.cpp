// SPDX-License-Identifier: Apache-2.0
//
// hand_voip_stream INPUT [--duration SECONDS]: the rate of the hand-written telemarketing scores,
// with the filters and times that `strid run voip-stream` has by default. With --once [--output
// FILE]: the answer of one pass.
#include "voip_stream.hpp"

#include <cstdio>
#include <ostream>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "bench/hand/options.hpp"

namespace {

using namespace strid::bench::hand;

void run(const Options& options) {
    const std::vector<PhoneCall> calls = load_calls(options.input);
    if (options.once) {
        write_output(options.output, [&](std::ostream& stream) {
            CallScorer scorer;
            const auto digits = [](std::uint64_t code) { return std::to_string(code).substr(1); };
            for (const PhoneCall& call : calls) {
                scorer.add(call, [&](const PhoneScore& score) {
                    stream << fmt::format("{},{},{:%Y-%m-%dT%H:%M:%SZ},{},{},{},{}\n",
                                          digits(score.calling), digits(score.called),
                                          fmt::gmtime(std::time_t{score.start}), score.fofir,
                                          score.url, score.acd, score.score);
                });
            }
        });
        return;
    }
    const VoipStreamResult result = run_voip_stream(calls, options.duration);
    std::printf("voip stream %8.2f M calls/s\n", result.records_per_second() / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
    return run_main(argc, argv, run);
}
