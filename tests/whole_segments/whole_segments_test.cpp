// SPDX-License-Identifier: Apache-2.0
//
// A program that is compiled with STRID_WHOLE_SEGMENTS: the answers are those of any other, and a
// run that needs a part of a segment is refused in a sentence.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/strid.hpp>

namespace strid {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<std::uint64_t>;

static_assert(graph::compiled_kernels == graph::Kernels::whole_only);

/// Two segments. The sink of the second appends to one vector, so that it has one replica.
struct Doubled {
    explicit Doubled(OperatorOptions of_map = {}) {
        Numbers numbers(1000);
        std::iota(numbers.begin(), numbers.end(), 0);
        graph.source(from_vector(std::move(numbers)))
            .filter([](const std::uint64_t& n) { return n % 3 != 0; }, {.name = "some"})
            .key_by([](const std::uint64_t& n) { return n % 7; })
            .map([](std::uint64_t& n) { n *= 2; }, std::move(of_map))
            .sink([this](const std::uint64_t& n) { results.push_back(n); }, {.name = "results"});
    }

    Numbers results;
    Graph graph{"doubled"};
};

Numbers expected() {
    Numbers all;
    for (std::uint64_t n = 0; n < 1000; ++n) {
        if (n % 3 != 0) all.push_back(2 * n);
    }
    return all;
}

std::string refusal(const Graph& graph, const RunOptions& options) {
    try {
        run(graph, options);
    } catch (const GraphError& error) {
        return error.what();
    }
    return "it ran";
}

TEST(WholeSegments, HaveTheAnswersOfAnyProgram) {
    for (const auto mode : {RunOptions::Mode::cooperative, RunOptions::Mode::dedicated,
                            RunOptions::Mode::simulation}) {
        Doubled program;
        const RunReport report = run(program.graph, {.mode = mode, .workers = 4});
        std::sort(program.results.begin(), program.results.end());
        EXPECT_EQ(program.results, expected());
        EXPECT_EQ(report.segments.size(), 2U);
    }
}

TEST(WholeSegments, HaveOneReplicaWhereOneOfTheirOperatorsHas) {
    const Doubled program{{.name = "double"}};
    EXPECT_THAT(program.graph.explain({.workers = 4}),
                HasSubstr("compiled as a whole segment, in which one operator has one replica"));
    for (const RunOptions& options :
         {RunOptions{.parallelism = 3}, RunOptions{.operator_parallelism = {{"double", 3}}}}) {
        EXPECT_EQ(refusal(program.graph, options),
                  "operators 'double' and 'results' are one segment and cannot have 3 and 1 "
                  "replicas: the program was compiled with STRID_WHOLE_SEGMENTS (call separate() "
                  "between them)");
    }
}

TEST(WholeSegments, AreNotCut) {
    const Doubled program;
    EXPECT_EQ(refusal(program.graph, {.fuse = false}),
              "the segment that begins with operator 'source-1' cannot run with a node for each "
              "operator (--no-fuse): the program was compiled with STRID_WHOLE_SEGMENTS");
    EXPECT_EQ(refusal(program.graph, {.composition = Composition::dedicated}),
              "the segment that begins with operator 'source-1' cannot run with distributing nodes "
              "(--composition): the program was compiled with STRID_WHOLE_SEGMENTS");
}

TEST(WholeSegments, OfOneOperatorNeedNotBeCut) {
    Numbers results;
    Graph graph{"copy"};
    graph.source(from_vector(expected())).separate().sink([&results](const std::uint64_t& n) {
        results.push_back(n);
    });
    run(graph, {.fuse = false});
    EXPECT_EQ(results, expected());
}

}  // namespace
}  // namespace strid
