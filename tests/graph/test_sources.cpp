// SPDX-License-Identifier: Apache-2.0
//
// The ways to run a graph, compiled once for all tests of graphs.
#include "test_sources.hpp"

#include <cstddef>

#include "../support/seeds.hpp"

namespace strid::test {

std::vector<Way> all_ways() {
    using Mode = RunOptions::Mode;
    std::vector<Way> ways;
    for (std::size_t workers : {1U, 2U, 3U}) {
        for (std::size_t parallelism : {0U, 1U, 3U}) {
            ways.push_back({"cooperative, " + std::to_string(workers) + " workers, parallelism " +
                                std::to_string(parallelism),
                            {.workers = workers, .parallelism = parallelism}});
        }
    }
    constexpr auto spin = RunOptions::Waiting::spin;
    ways.push_back({"cooperative, spinning", {.workers = 2, .parallelism = 2, .waiting = spin}});
    ways.push_back(
        {"dedicated, spinning", {.mode = Mode::dedicated, .parallelism = 2, .waiting = spin}});
    for (std::size_t parallelism : {1U, 2U, 4U}) {
        const auto replicas = ", parallelism " + std::to_string(parallelism);
        ways.push_back({"dedicated" + replicas,
                        {.mode = Mode::dedicated, .parallelism = parallelism, .fuse = false}});
        ways.push_back(
            {"dedicated, fused" + replicas, {.mode = Mode::dedicated, .parallelism = parallelism}});
        for (auto composition : {Composition::dedicated, Composition::centralised}) {
            const auto composed =
                ", composition " + std::to_string(static_cast<int>(composition)) + replicas;
            ways.push_back(
                {"cooperative" + composed,
                 {.parallelism = parallelism, .fuse = false, .composition = composition}});
            ways.push_back({"dedicated" + composed,
                            {.mode = Mode::dedicated,
                             .parallelism = parallelism,
                             .fuse = parallelism == 2,
                             .composition = composition}});
        }
        for (const std::uint64_t seed : seeds(8)) {
            ways.push_back({"simulation, seed " + std::to_string(seed) + replicas,
                            {.mode = Mode::simulation,
                             .parallelism = parallelism,
                             .fuse = seed % 3 != 0,
                             .seed = seed}});
        }
    }
    return ways;
}

}  // namespace strid::test

namespace strid {

template class operators::Kernel<operators::SourceHead<test::Numbers>,
                                 operators::SingleSlotRouter<std::uint64_t>>;
template class operators::Kernel<operators::InputHead<std::uint64_t>,
                                 operators::SingleSlotRouter<std::uint64_t>,
                                 operators::Identity<std::uint64_t>>;
template class graph::Segment<operators::SingleSlotRouter<std::uint64_t>,
                              operators::SourceHead<test::Numbers>>;
template class graph::Segment<operators::SingleSlotRouter<std::uint64_t>,
                              operators::InputHead<std::uint64_t>,
                              operators::Identity<std::uint64_t>>;

}  // namespace strid
