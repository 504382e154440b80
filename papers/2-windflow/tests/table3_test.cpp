// SPDX-License-Identifier: Apache-2.0
//
// The blocks of every application as it runs here, one replica for each operator: our row beside
// that of table 3 of paper 2, which tests/block/table3_test.cpp derives for the paper's graphs.
#include <array>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <strid/engine/block/dag.hpp>
#include <strid/engine/plan/block_term.hpp>

#include "papers/2-windflow/all_applications.hpp"

namespace strid::apps {
namespace {

using block::BlockCounts;

/// Blocks that are there once, and those of each replica of the keyed operators.
struct Row {
    BlockCounts once;
    BlockCounts each;

    [[nodiscard]] BlockCounts with(std::size_t replicas) const {
        return {once.seqs + replicas * each.seqs, once.combiners + replicas * each.combiners,
                once.pipes + replicas * each.pipes, once.containers, once.all_to_alls};
    }
};

/// By hand, from the operators that `details()` lists. A pipeline with one key_by is two chains:
/// each is a Pipe in a Container, an All-to-All joins them. A Seq is an operator, or the
/// distribution of a key_by at the end of the first chain; n Seqs in a chain are n - 1 Combiners,
/// one less for each place at which the rules append (•) instead of combining.
const std::map<std::string, Row, std::less<>> by_hand = {
    // transactions f_d | predict write
    {"fraud-detection", {{2, 1, 1, 2, 1}, {2, 1, 1, 0, 0}}},
    // readings f_d | average spikes write
    {"spike-detection", {{2, 1, 1, 2, 1}, {3, 2, 1, 0, 0}}},
    // lines split f_d | count write
    {"word-count", {{3, 2, 1, 2, 1}, {2, 1, 1, 0, 0}}},
    // events views project join time count-parts f_d | count rows • write
    {"yahoo-benchmark", {{7, 6, 1, 2, 1}, {3, 1, 1, 0, 0}}},
    // calls parser sides f_d | features score write
    {"voip-stream", {{4, 3, 1, 2, 1}, {3, 2, 1, 0, 0}}},
    // events dispatch time f_d | roads f_s 3 f_d, whose copies go to
    //   write; route f_d | accounts write-balances; history write-expenditures
    // Each split and each key_by is an All-to-All: one in one in the outermost.
    {"linear-road", {{4 + 1 + 2 + 2, 3 + 1 + 1, 4, 6, 3}, {5 + 2, 2 + 1, 2, 0, 0}}},
};

/// fixes • route • match • route f_d | speed rows write. With several replicas of match its route
/// is a chain of its own: fixes • route f_d | match • route f_d | speed rows write.
BlockCounts of_traffic_monitoring(std::size_t replicas) {
    if (replicas == 1) return {8, 1 + 2, 2, 2, 1};
    return Row{{3, 1, 1, 4, 2}, {3 + 3, 1 + 2, 2, 0, 0}}.with(replicas);
}

/// Not in the grammar: Matryoshkas with edges.
/// flights time f_s 3 f_d; route f_d | delays f_s 2 f_d; results • map write; late • write;
/// route f_d | rotations map • write; left f_d; weather time right f_d; in-weather • write
constexpr BlockCounts of_flights = {6 + 2 + 4 + 3 + 2 + 2 + 3 + 2 + 4 + 2,
                                    3 + 1 + 2 + 1 + 0 + 1 + 1 + 1 + 3 + 0, 10, 4, 2};

/// The paper's graph of voip-stream, `--form full`, with our routes:
/// calls parser • route f_s 3 f_d; route f_d | dispatcher f_s 5 f_d; five times route f_d | filter
/// f_d; url f_d; global f_d; acd f_d; pre_rcr f_d | rcr f_d; fofir f_d; score • write
constexpr BlockCounts of_full_voip_stream = {7 + 9 + 5 * 4 + 2 + 2 + 2 + 4 + 2 + 2,
                                             3 + 3 + 5 * 2 + 1 + 1 + 1 + 2 + 1 + 0,
                                             1 + 2 + 5 * 2 + 1 + 1 + 1 + 2 + 1 + 1, 14, 7};

BlockCounts expected_of(std::string_view name, std::size_t replicas) {
    if (name == "traffic-monitoring") return of_traffic_monitoring(replicas);
    const auto row = by_hand.find(name);
    EXPECT_NE(row, by_hand.end()) << name << ": its row is not there";
    return row == by_hand.end() ? BlockCounts{} : row->second.with(replicas);
}

const std::map<std::string, std::vector<std::string>, std::less<>>& needed_options() {
    static const std::filesystem::path data = STRID_APPLICATIONS;  // values last, as CLI11 takes
    static const std::map<std::string, std::vector<std::string>, std::less<>> options = {
        {"fraud-detection", {(data / "fraud-detection/data/model.txt").string(), "--model"}},
        {"flights",
         {"/dev/null", "--late", "/dev/null", "--joined", "/dev/null", "--rotations",
          STRID_FLIGHTS "/data/weather.csv", "--weather"}},
        {"traffic-monitoring", {(data / "traffic-monitoring/data/roads.csv").string(), "--roads"}},
        {"yahoo-benchmark",
         {(data / "yahoo-benchmark/data/campaigns.csv").string(), "--campaigns"}}};
    return options;
}

/// The counts that `explain` shows.
BlockCounts explained_counts(const std::string& text) {
    static const std::regex total(
        "\ntotal  ([0-9]+) Seqs?, ([0-9]+) Combiners?, ([0-9]+) Pipes?, ([0-9]+) Containers?, "
        "([0-9]+) All-to-Alls?\n");
    std::smatch found;
    if (!std::regex_search(text, found, total)) return {};
    const auto number = [&found](std::size_t i) { return std::stoul(found[i].str()); };
    return {number(1), number(2), number(3), number(4), number(5)};
}

Graph built(Application& application, std::vector<std::string> more = {}) {
    CLI::App command;
    application.add_options(command);
    const auto options = needed_options().find(application.name());
    if (options != needed_options().end()) {
        more.insert(more.end(), options->second.begin(), options->second.end());
    }
    if (!more.empty()) command.parse(more);
    application.check();
    Graph graph{std::string(application.name())};
    application.build(graph, {.input = "/dev/null", .output = "/dev/null"});
    return graph;
}

/// The term, what `explain` shows and the plan agree on the counts.
void expect_counts(const Graph& graph, const RunOptions& options, const BlockCounts& expected) {
    const graph::Plan plan = graph::make_plan(graph.segments(), options, 4);
    const block::DagComposition term = graph::composition_of(graph.segments(), plan);
    EXPECT_EQ(graph::disagreement(term, graph.segments(), plan), "");
    EXPECT_EQ(term.counts(), expected);
    EXPECT_EQ(explained_counts(graph.explain_algebra(options)), expected);
}

TEST(TableThreeOfOurs, OneReplicaOfEachOperator) {
    for (const auto& application : all_applications()) {
        SCOPED_TRACE(application->name());
        expect_counts(
            built(*application), {.parallelism = 1},
            application->name() == "flights" ? of_flights : expected_of(application->name(), 1));
    }
}

TEST(TableThreeOfOurs, ThePapersGraphOfVoipStream) {
    const auto application = make_voip_stream();
    expect_counts(built(*application, {"full", "--form"}), {.parallelism = 1}, of_full_voip_stream);
}

/// The paper's row; for voip-stream the one that its rules give (tests/block/table3_test.cpp).
TEST(TableThreeOfOurs, ThePapersForm) {
    const std::map<std::string, BlockCounts, std::less<>> rows = {
        {"fraud-detection", {4, 1, 2, 2, 1}},    {"spike-detection", {5, 1, 2, 2, 1}},
        {"traffic-monitoring", {5, 1, 2, 2, 1}}, {"word-count", {5, 1, 2, 2, 1}},
        {"yahoo-benchmark", {6, 1, 2, 2, 1}},    {"linear-road", {16, 5, 5, 4, 2}},
        {"voip-stream", {32, 13, 13, 16, 8}}};
    for (const auto& application : all_applications()) {
        const auto row = rows.find(application->name());
        if (row == rows.end()) continue;
        SCOPED_TRACE(application->name());
        const Graph graph = built(*application, {"paper", "--form"});
        expect_counts(graph, application->options_of_form({.parallelism = 1}), row->second);
    }
}

TEST(TableThreeOfOurs, DefaultHasAReplicaForEachWorker) {
    for (const auto& application : all_applications()) {
        if (application->name() == "flights") continue;  // not of the paper
        SCOPED_TRACE(application->name());
        const Graph graph = built(*application);
        for (const std::size_t workers : {1U, 2U, 4U}) {
            SCOPED_TRACE(workers);
            EXPECT_EQ(explained_counts(graph.explain_algebra({.workers = workers})),
                      expected_of(application->name(), workers));
        }
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
        EXPECT_EQ(explained_counts(graph.explain_algebra(options)),
                  (BlockCounts{3 + 2 * replicas, 2 + replicas, 1 + replicas, 2, 1}));
    }
}

}  // namespace
}  // namespace strid::apps
