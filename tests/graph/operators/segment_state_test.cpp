// SPDX-License-Identifier: Apache-2.0
//
// The state of a segment while it runs: stages kept in registers for the length of a run are
// written back.
#include <memory>
#include <tuple>

#include <gtest/gtest.h>

#include "../test_sources.hpp"

namespace strid {
namespace {

using test::Numbers;

const std::uint64_t count = test::perturbed ? 500 : 20'000;

/// Small and trivially copyable: held in a copy by every run of its segment.
struct SumSink {
    static constexpr FunctionTraits traits{.hears = events<Closed>};

    std::uint64_t* result;
    std::uint64_t sum = 0;
    void operator()(const std::uint64_t& n) { sum += n; }
    void on(Closed) { *result = sum; }
    auto state() { return std::tie(sum); }
};
static_assert(operators::kept_in_registers<operators::Sink<std::uint64_t, SumSink>>);

/// The same with a member that forbids a copy by bytes.
struct SumSinkInPlace : SumSink {
    std::shared_ptr<int> anything = std::make_shared<int>(0);
};
static_assert(!operators::kept_in_registers<operators::Sink<std::uint64_t, SumSinkInPlace>>);

template <class S>
std::uint64_t sum_of_numbered(const RunOptions& options) {
    std::uint64_t sum = 0;
    S sink;
    sink.result = &sum;
    Graph graph{"numbered"};
    graph.source(Numbers{count})
        .separate()  // so that the stages are run on batches, whole and in part
        .map([seen = std::uint64_t{0}](std::uint64_t& n) mutable { n += seen++; })
        .sink(sink);
    RunOptions one = options;
    one.parallelism = 1;
    run(graph, one);
    return sum;
}

TEST(SegmentState, OfTrivialStagesLastsFromRunToRun) {
    // n + n for every number; a state that a run forgot would start at 0 again.
    const std::uint64_t expected = count * (count - 1);
    for (const auto& way : test::all_ways()) {
        SCOPED_TRACE(way.name);
        EXPECT_EQ(sum_of_numbered<SumSink>(way.options), expected);
        EXPECT_EQ(sum_of_numbered<SumSinkInPlace>(way.options), expected);
    }
}

TEST(SegmentState, OfAFusedSourceLastsToo) {
    std::uint64_t sum = 0;
    Graph graph{"fused"};
    graph.source(Numbers{count})
        .map([seen = std::uint64_t{0}](std::uint64_t& n) mutable { n += seen++; })
        .sink(SumSink{&sum});
    run(graph, {.workers = 1});
    EXPECT_EQ(sum, count * (count - 1));
}

}  // namespace
}  // namespace strid
