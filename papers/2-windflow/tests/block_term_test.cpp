// SPDX-License-Identifier: Apache-2.0
//
// The block term of every application, which explain_algebra() shows, against its plan, in every
// layout. The invariant is that of engine/plan/block_term.hpp.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <strid/engine/plan/block_term.hpp>

#include "papers/2-windflow/all_applications.hpp"

namespace strid::apps {
namespace {

std::vector<RunOptions> every_layout() {
    using Mode = RunOptions::Mode;
    std::vector<RunOptions> ways;
    for (const auto mode : {Mode::cooperative, Mode::dedicated, Mode::simulation}) {
        for (const std::size_t parallelism : {0U, 1U, 2U, 5U}) {
            for (const bool fuse : {true, false}) {
                for (const auto composition :
                     {Composition::combined, Composition::dedicated, Composition::centralised}) {
                    ways.push_back({.mode = mode,
                                    .parallelism = parallelism,
                                    .fuse = fuse,
                                    .composition = composition});
                }
            }
        }
    }
    return ways;
}

TEST(BlockTerm, OfEveryApplicationAgreesWithItsPlan) {
    const std::filesystem::path data = STRID_APPLICATIONS;
    const std::map<std::string, std::vector<std::string>, std::less<>> needed = {
        {"fraud-detection", {(data / "fraud-detection/data/model.txt").string(), "--model"}},
        {"flights",
         {"/dev/null", "--late", "/dev/null", "--joined", "/dev/null", "--rotations",
          STRID_FLIGHTS "/data/weather.csv", "--weather"}},
        {"yahoo-benchmark",
         {(data / "yahoo-benchmark/data/campaigns.csv").string(), "--campaigns"}},
        {"traffic-monitoring", {(data / "traffic-monitoring/data/roads.csv").string(), "--roads"}}};
    for (const auto& application : all_applications()) {
        SCOPED_TRACE(application->name());
        CLI::App command;
        application->add_options(command);
        const auto options = needed.find(application->name());
        if (options != needed.end()) command.parse(std::vector{options->second});  // last first
        application->check();
        Graph graph{std::string(application->name())};
        application->build(graph, {.input = "/dev/null", .output = "/dev/null"});
        for (const RunOptions& way : every_layout()) {
            const graph::Plan plan = graph::make_plan(graph.segments(), way, 4);
            EXPECT_EQ(graph::disagreement(graph::composition_of(graph.segments(), plan),
                                          graph.segments(), plan),
                      "")
                << graph.explain_algebra(way);
        }
    }
}

}  // namespace
}  // namespace strid::apps
