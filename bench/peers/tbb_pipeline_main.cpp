// SPDX-License-Identifier: Apache-2.0
//
// tbb_pipeline [RECORDS] [ROUNDS] [THREADS]: rates of the synthetic pipeline on oneTBB, each answer
// checked against the hand-written loop's. Tokens of one record run a twentieth of RECORDS. Exits
// with 1 when an answer is wrong.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "../hand/pipeline.hpp"
#include "tbb_pipeline.hpp"

namespace {

using strid::bench::PipelineChecksum;
using strid::bench::PipelineResult;
namespace peers = strid::bench::peers;

bool report(const char* name, std::size_t size, const PipelineResult& result) {
    const PipelineChecksum expected =
        strid::bench::hand::run_pipeline_fused(result.records).checksum;
    const bool right = result.checksum == expected;
    std::printf("%-36s %5zu records a token %8.2f M records/s  %s\n", name, size,
                result.records_per_second() / 1e6, right ? "answer checked" : "WRONG ANSWER");
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 40'000'000;
    const std::uint64_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 3;
    const std::uint64_t threads = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 2;
    using peers::FlowGraphNodes;
    bool right = true;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (const std::size_t size : peers::tbb_token_records) {
            const std::uint64_t count = size == 1 ? records / 20 : records;
            right &= report("parallel_pipeline", size,
                            peers::run_tbb_parallel_pipeline(count, size, threads));
            right &= report(
                "flow graph", size,
                peers::run_tbb_flow_graph(count, size, threads, FlowGraphNodes::task_per_node));
            right &= report(
                "flow graph, lightweight nodes", size,
                peers::run_tbb_flow_graph(count, size, threads, FlowGraphNodes::lightweight));
        }
    }
    return right ? 0 : 1;
}
