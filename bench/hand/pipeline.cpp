// SPDX-License-Identifier: Apache-2.0
//
// hand_pipeline [RECORDS] [ROUNDS]: the rates of the hand-written synthetic pipelines, with their
// answers checked against each other. Exits with 1 when two answers differ.
#include "pipeline.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using strid::bench::PipelineChecksum;
using strid::bench::PipelineResult;
namespace hand = strid::bench::hand;

bool report(const char* name, const PipelineResult& result, const PipelineChecksum& expected) {
    const bool right = result.checksum == expected;
    std::printf("%-40s %8.1f M records/s  %s\n", name, result.records_per_second() / 1e6,
                right ? "answer checked" : "WRONG ANSWER");
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000'000;
    const std::uint64_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 3;
    bool right = true;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const PipelineResult fused = hand::run_pipeline_fused(records);
        right &= report("one loop, record by record", fused, fused.checksum);
        right &= report("one loop, batches of 256 in memory",
                        hand::run_pipeline_batched<256>(records), fused.checksum);
        if (std::thread::hardware_concurrency() > 1) {
            right &= report("two threads, memcpy through a ring",
                            hand::run_pipeline_two_threads<256, 16>(records), fused.checksum);
        }
    }
    return right ? 0 : 1;
}
