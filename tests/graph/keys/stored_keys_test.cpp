// SPDX-License-Identifier: Apache-2.0
//
// Graphs whose state by key is partly in a store in memory: their rows, what they report and say of
// themselves, and faults of the store.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/strid.hpp>

#include "../../support/memory_stores.hpp"
#include "../../support/stored_graphs.hpp"

namespace strid {
namespace {

using test::Payment;

TEST(StoredKeys, GiveTheRowsOfATableInMemory) {
    test::graphs_agree(20, [] { return std::make_shared<test::MemoryStores>(); });
}

TEST(StoredKeys, AreInTheReportWithWhatIsInMemory) {
    const auto stores = std::make_shared<test::MemoryStores>();
    std::vector<Payment> payments;
    for (int i = 0; i != 5'000; ++i) payments.push_back({std::to_string(i), EventTime{}, 1});
    Graph graph{"report"};
    graph.source(replay(payments))
        .key_by<&Payment::payer>(keep_in_memory(10'000, stores))
        .map(test::Last{}, {.name = "last", .parallelism = 1})
        .sink([](const Payment&) {});
    EXPECT_THAT(graph.explain(),
                testing::HasSubstr("those used last in memory, the others in a store"));
    const RunReport report = run(graph);
    EXPECT_EQ(report.find("last")->state_keys, 5'000U);
    EXPECT_LE(report.find("last")->state_bytes, 30'000U);
}

/// A fault of the store is none of the function's, whose records may be left out.
TEST(StoredKeys, AFaultOfTheStoreEndsTheRun) {
    const auto stores = std::make_shared<test::MemoryStores>();
    auto calls = std::make_shared<int>(0);
    stores->before_each = [calls] {
        if (++*calls == 20) throw InputOutputError("states/last/0/live: the disk is full");
    };
    Graph graph{"full"};
    graph.source(replay(test::payments(7, 3'000, 1'000)))
        .key_by<&Payment::payer>(keep_in_memory(500, stores))
        .map(test::Last{}, {.name = "last", .parallelism = 1, .on_exception = OnException::skip})
        .sink([](const Payment&) {});
    try {
        (void)run(graph);
        FAIL();
    } catch (const OperatorError& error) {
        EXPECT_STREQ(error.what(), "operator 'last': states/last/0/live: the disk is full");
    }
}

}  // namespace
}  // namespace strid
