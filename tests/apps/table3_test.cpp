// SPDX-License-Identifier: Apache-2.0
//
// The blocks of every application as it runs here, one replica for each operator: our row beside
// that of table 3 of paper 2, which tests/block/table3_test.cpp derives for the paper's graphs.
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <strid/block/dag.hpp>
#include <strid/graph/block_term.hpp>

#include "../../apps/application.hpp"

namespace strid::apps {
namespace {

using block::BlockCounts;

/// By hand, from the operators that `details()` lists. A pipeline with one key_by is two chains:
/// each is a Pipe in a Container, an All-to-All joins them. A Seq is an operator, or the
/// distribution of a key_by at the end of the first chain; n Seqs in a chain are n - 1 Combiners,
/// one less for each place at which the rules append (•) instead of combining.
const std::map<std::string, BlockCounts, std::less<>> by_hand = {
    {"fraud-detection", {4, 2, 2, 2, 1}},  // transactions f_d | predict write
    {"spike-detection", {5, 3, 2, 2, 1}},  // readings f_d | average spikes write
    {"word-count", {5, 3, 2, 2, 1}},       // lines split f_d | count write
    // events views project join time count-parts f_d | count rows • write
    {"yahoo-benchmark", {10, 7, 2, 2, 1}},
};

const std::map<std::string, std::vector<std::string>, std::less<>>& needed_options() {
    static const std::filesystem::path data = STRID_APPLICATIONS;  // values last, as CLI11 takes
    static const std::map<std::string, std::vector<std::string>, std::less<>> options = {
        {"fraud-detection", {(data / "fraud-detection/data/model.txt").string(), "--model"}},
        {"flights",
         {"/dev/null", "--late", "/dev/null", "--joined", "/dev/null", "--rotations",
          (data / "flights/data/weather.csv").string(), "--weather"}},
        {"traffic-monitoring", {(data / "traffic-monitoring/data/roads.csv").string(), "--roads"}},
        {"yahoo-benchmark",
         {(data / "yahoo-benchmark/data/campaigns.csv").string(), "--campaigns"}}};
    return options;
}

/// What `explain` tells a reader.
BlockCounts told(const std::string& text) {
    static const std::regex total(
        "\ntotal  ([0-9]+) Seqs?, ([0-9]+) Combiners?, ([0-9]+) Pipes?, ([0-9]+) Containers?, "
        "([0-9]+) All-to-Alls?\n");
    std::smatch found;
    if (!std::regex_search(text, found, total)) return {};
    const auto number = [&found](std::size_t i) { return std::stoul(found[i].str()); };
    return {number(1), number(2), number(3), number(4), number(5)};
}

TEST(TableThreeOfOurs, TermAndExplainAndPlanAgree) {
    const RunOptions one_replica{.parallelism = 1};
    for (const auto& application : all_applications()) {
        SCOPED_TRACE(application->name());
        CLI::App command;
        application->add_options(command);
        const auto options = needed_options().find(application->name());
        if (options != needed_options().end()) command.parse(std::vector{options->second});
        application->check();
        Graph graph{std::string(application->name())};
        application->build(graph, {.input = "/dev/null", .output = "/dev/null"});

        const graph::Plan plan = graph::make_plan(graph.segments(), one_replica, 4);
        const block::Composition term = graph::composition_of(graph.segments(), plan);
        const BlockCounts counts = term.counts();
        EXPECT_EQ(graph::disagreement(term, graph.segments(), plan), "");
        EXPECT_EQ(told(graph.explain(one_replica)), counts);
        const auto expected = by_hand.find(application->name());
        if (expected != by_hand.end()) {
            EXPECT_EQ(counts, expected->second);
        }
        std::printf("blocks | %-18.*s | %zu | %zu | %zu | %zu | %zu |\n",
                    static_cast<int>(application->name().size()), application->name().data(),
                    counts.seqs, counts.combiners, counts.pipes, counts.containers,
                    counts.all_to_alls);
    }
}

TEST(TableThreeOfOurs, ReplicasAreBlocksOfTheirOwn) {
    CLI::App command;
    const auto application = make_word_count();
    application->add_options(command);
    Graph graph{"word-count"};
    application->build(graph, {.input = "/dev/null", .output = "/dev/null"});
    for (const std::size_t replicas : {1U, 2U, 5U}) {
        const RunOptions options{.operator_parallelism = {{"count", replicas}}};
        // lines split f_d, and for each replica a chain of count and write
        EXPECT_EQ(told(graph.explain(options)),
                  (BlockCounts{3 + 2 * replicas, 2 + replicas, 1 + replicas, 2, 1}));
    }
}

}  // namespace
}  // namespace strid::apps
