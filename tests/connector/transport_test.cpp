// SPDX-License-Identifier: Apache-2.0
//
// Rows that go into a table by epochs: a table in memory, which is lost, refuses and is slow as the
// test says, has each row once.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/csv_writer.hpp>
#include <strid/connector/row_output.hpp>
#include <strid/connector/transport.hpp>
#include <strid/operator/run_scope.hpp>

#include "drive.hpp"
#include "memory_table.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using test::message_of;
using test::Snapshotted;
using testing::ElementsAre;
using testing::HasSubstr;

using Transports = test::TableTest;

TEST_F(Transports, AnInputIsReadAsAFileIs) {
    struct Row {
        int number;
        std::string text;
    };
    const auto read = test::drain(csv_file<Row>("memory:?text=1,a%0a2,b%0a"));
    ASSERT_EQ(read.records.size(), 2U);
    EXPECT_EQ(read.records[1].text, "b");
    EXPECT_FALSE(input_goes_away("memory:?text=x"));
    EXPECT_TRUE(input_may_block("memory:?text=x"));
}

TEST_F(Transports, WholeRowsAreOneTransaction) {
    RunScope scope;
    auto output = table();
    output->open("id,name\n", &scope);
    output->append("1,a\n");
    output->append("2,b\n");
    output->close();
    EXPECT_THAT(server.rows, ElementsAre());
    scope.commit();
    EXPECT_THAT(server.rows, ElementsAre("1,a", "2,b"));
    EXPECT_EQ(server.transactions, 1);
    EXPECT_THAT(server.columns, ElementsAre("id", "name"));
    EXPECT_TRUE(server.epochs.empty());
}

TEST_F(Transports, OfARunThatFailsNothingIsWrittenWhole) {
    {
        RunScope scope;
        auto output = table();
        output->open({}, &scope);
        output->append("1\n");
        output->abandon();
    }
    EXPECT_THAT(server.rows, ElementsAre());
}

TEST_F(Transports, LiveRowsAreThereAtOnce) {
    RunScope scope;
    auto output = table(Writing::live);
    output->open({}, &scope);
    output->append("1\n");
    EXPECT_THAT(server.rows, ElementsAre("1"));
    output->append("2\n");
    EXPECT_THAT(server.rows, ElementsAre("1", "2"));
    output->close();
    scope.commit();
}

TEST_F(Transports, AnEpochIsWrittenWhenItsSnapshotIsStored) {
    Snapshotted run;
    auto output = table();
    output->open("n\n", &run.scope);
    output->append("1\n", 0);
    output->begin_snapshot(1);
    (void)run.scope.prepare(1);
    output->append("2\n", 1);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(server.transactions, 0);
    run.scope.stored(1);
    wait_until([&] { return server.transactions == 1; });
    EXPECT_THAT(server.rows, ElementsAre("1"));
    run.end(*output, 1);
    EXPECT_THAT(server.rows, ElementsAre("1", "2"));
    EXPECT_EQ(server.epochs.begin()->second, 2U);
}

TEST_F(Transports, RowsOfASnapshotThatIsNotStoredComeWithTheNext) {
    Snapshotted run;
    auto output = table();
    output->open({}, &run.scope);
    output->append("1\n", 0);
    (void)run.snapshot(*output, 1, false);
    run.scope.not_stored(1);
    output->append("2\n", 1);
    (void)run.snapshot(*output, 2);
    run.end(*output, 2);
    EXPECT_THAT(server.rows, ElementsAre("1", "2"));
}

/// Killed at each of its steps, and gone on with.
TEST_F(Transports, AfterAKillEachRowIsThereOnce) {
    for (const bool is_committed : {false, true}) {
        server.rows.clear();
        RunScope::Prepared prepared;
        {
            Snapshotted run;
            auto output = table();
            output->open({}, &run.scope);
            output->append("1\n", 0);
            // The process ends before it hears that the snapshot is stored, or just after it.
            prepared = run.snapshot(*output, 1, is_committed);
            output->append("lost\n", 1);
            if (is_committed) wait_until([&] { return server.rows.size() == 1; });
            output->abandon();
        }
        Snapshotted next(prepared, {.behind = 1, .last = 1});
        auto output = table();
        output->open({}, &next.scope);
        EXPECT_THAT(server.rows, ElementsAre("1"));
        output->append("2\n", 0);
        output->close(0);
        (void)next.scope.prepare(2);
        next.scope.stored(2);
        next.scope.commit();
        EXPECT_THAT(server.rows, ElementsAre("1", "2"));
    }
}

TEST_F(Transports, ATableThatIsAheadOfTheSnapshotsIsRefused) {
    RunScope::Prepared prepared;
    {
        Snapshotted run;
        auto output = table();
        output->open({}, &run.scope);
        prepared = run.snapshot(*output, 1);
        output->append("1\n", 1);
        (void)run.snapshot(*output, 2);
        wait_until([&] { return server.rows.size() == 1; });
        output->abandon();
    }
    Snapshotted next(prepared, {.behind = 1, .last = 2});
    auto output = table();
    EXPECT_THAT(message_of<GraphError>([&] { output->open({}, &next.scope); }),
                HasSubstr("has the rows of epoch 2, and the run goes on behind snapshot 1"));
}

TEST_F(Transports, WhatTheTableRefusesEndsTheRun) {
    Snapshotted run;
    auto output = table();
    output->open({}, &run.scope);
    server.refuses_rows = true;
    output->append("1\n", 0);
    (void)run.snapshot(*output, 1);
    const auto fault = message_of<InputOutputError>([&] {
        for (int i = 0; i != 6'000; ++i) {
            output->append("2\n", 1);
            std::this_thread::sleep_for(10ms);
        }
    });
    EXPECT_EQ(fault, "no such column");
    output->abandon();
}

/// Where the server is away the threads end, and the rows are in the snapshot.
TEST_F(Transports, ARunThatIsStoppedDoesNotWaitForAServer) {
    RunScope::Prepared prepared;
    {
        Snapshotted run;
        auto output = table();
        output->open({}, &run.scope);
        {
            const std::lock_guard lock(server.mutex);
            server.refused_opens = server.lost_writes = 1'000'000;
        }
        output->append("1\n", 0);
        prepared = run.snapshot(*output, 1);
        output->close(1);
    }
    server.refused_opens = server.lost_writes = 0;
    Snapshotted next(prepared, {.behind = 1, .last = 1});
    auto output = table();
    output->open({}, &next.scope);
    EXPECT_THAT(server.rows, ElementsAre("1"));
    output->abandon();
}

TEST_F(Transports, AGraphMayRunTwice) {
    auto output = table();
    for (const char* const row : {"1\n", "2\n"}) {
        Snapshotted run;
        output->open({}, &run.scope);
        output->append(row, 0);
        output->close(0);
        (void)run.scope.prepare(1);
        run.scope.stored(1);
        run.scope.commit();
    }
    EXPECT_THAT(server.rows, ElementsAre("1", "2"));
    EXPECT_EQ(server.epochs.size(), 2U);
}

TEST_F(Transports, ATableThatHasForgottenIsRefused) {
    RunScope::Prepared prepared;
    {
        Snapshotted run;
        auto output = table();
        output->open({}, &run.scope);
        output->append("1\n", 0);
        (void)run.snapshot(*output, 1);
        wait_until([&] { return server.rows.size() == 1; });
        prepared = run.snapshot(*output, 2);
        output->abandon();
    }
    server.epochs.clear();
    Snapshotted next(prepared, {.behind = 2, .last = 2});
    auto output = table();
    EXPECT_THAT(message_of<GraphError>([&] { output->open({}, &next.scope); }),
                HasSubstr("had the rows of epoch 1, and says 0 now"));
}

TEST_F(Transports, ARefusedRowIsSeenAtTheNextSnapshotToo) {
    Snapshotted run;
    auto output = table();
    output->open({}, &run.scope);
    server.refuses_rows = true;
    output->append("1\n", 0);
    (void)run.snapshot(*output, 1);
    EXPECT_EQ(message_of<InputOutputError>([&] {
                  for (std::uint64_t number = 2; number != 6'000; ++number) {
                      output->begin_snapshot(number);
                      std::this_thread::sleep_for(10ms);
                  }
              }),
              "no such column");
    output->abandon();
}

TEST_F(Transports, TwoSinksOfARunHaveTwoAddresses) {
    Snapshotted run;
    auto one = table();
    auto other = table();
    one->open({}, &run.scope);
    EXPECT_THAT(message_of<GraphError>([&] { other->open({}, &run.scope); }),
                HasSubstr("two sinks"));
    auto third = make_row_output("memory:?table=rows&sink=2", Writing::whole);
    third->open({}, &run.scope);
    one->append("1\n", 0);
    third->append("2\n", 0);
    one->close(0);
    run.end(*third, 0);
    EXPECT_THAT(server.rows, testing::UnorderedElementsAre("1", "2"));
    EXPECT_EQ(server.epochs.size(), 2U);
}

TEST_F(Transports, RowsWaitWhereTheServerDoes) {
    Snapshotted run;
    auto output = table();
    output->open({}, &run.scope);
    int asked = 0;
    run.scope.on_snapshot_request([&] { ++asked; });
    {
        const std::lock_guard lock(server.mutex);
        server.lost_writes = 1'000'000;
    }
    const std::string rows(std::size_t{1} << 20, 'x');
    for (int i = 0; i != 65; ++i) output->append(rows + "\n", 0);
    EXPECT_EQ(asked, 1);
    (void)run.snapshot(*output, 1);
    std::jthread writer([&] { EXPECT_THROW(output->append("more\n", 1), Interrupted); });
    std::this_thread::sleep_for(50ms);
    run.scope.interrupt();
    writer.join();
    output->abandon();
    const std::lock_guard lock(server.mutex);
    server.lost_writes = 0;
}

}  // namespace
}  // namespace strid
