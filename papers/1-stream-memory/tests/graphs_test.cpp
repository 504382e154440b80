// SPDX-License-Identifier: Apache-2.0
//
// The trading operator as a graph, by key and by window, against the plain loop: the same
// predictions, bit by bit, whatever the parallelism and the mode, in the order of the windows.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <trading/trading.hpp>

#include <strid/strid.hpp>

#include "plain_loop.hpp"
#include "tests/support/perturbed.hpp"

namespace strid {
namespace {

using namespace test;
using Predict = Stream<Prediction> (*)(Stream<Quote>, const Options&);

std::vector<Row> run_graph(const std::vector<Quote>& quotes, Predict predict,
                           const Options& options, const RunOptions& run_options) {
    Graph graph{"trading"};
    auto predictions = std::make_shared<Collected<Prediction>>();
    predict(graph.source(replay(quotes)), options)
        .sink([predictions](const Prediction& one) { predictions->add(one); }, {.parallelism = 1});
    run(graph, run_options);
    std::map<std::uint64_t, std::uint64_t> next;
    std::vector<Row> rows;
    for (const Prediction& one : predictions->records()) {
        EXPECT_EQ(one.window, next[one.symbol]++) << "the windows of a symbol come in order";
        rows.push_back(row_of(one));
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

void agrees(Predict predict) {
    const auto quotes = some_quotes(test::perturbed ? 2'500 : 6'000, 7);
    Options options{.length = 200, .slide = 25};
    const auto expected = plain_loop(quotes, options.length, options.slide, options.model);
    ASSERT_GT(expected.size(), 30U);
    for (options.parallelism = 1; options.parallelism <= 4; ++options.parallelism) {
        for (const auto mode : {RunOptions::Mode::simulation, RunOptions::Mode::dedicated,
                                RunOptions::Mode::cooperative}) {
            RunOptions run_options;
            run_options.mode = mode;
            run_options.workers = 2;
            run_options.seed = options.parallelism;
            EXPECT_EQ(run_graph(quotes, predict, options, run_options), expected)
                << "parallelism " << options.parallelism;
        }
    }
}

TEST(TradingGraph, ByKeyIsThePlainLoop) {
    agrees(predict_by_key);
}

TEST(TradingGraph, ByWindowIsThePlainLoop) {
    agrees(predict_by_window);
}

}  // namespace
}  // namespace strid
