// SPDX-License-Identifier: Apache-2.0
//
// A table that cannot be reached for a time: rows wait, each is there once, and the run says so.
#include <chrono>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/connector/row_output.hpp>
#include <strid/operator/connections.hpp>

#include "drive.hpp"
#include "memory_table.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using test::message_of;
using test::Snapshotted;
using testing::ElementsAre;
using testing::HasSubstr;

using LostTables = test::TableTest;

TEST_F(LostTables, ALostConnectionIsMadeOnceMore) {
    Snapshotted run;
    auto output = table();
    output->open("n\n", &run.scope);
    {
        const std::lock_guard lock(server.mutex);
        server.lost_writes = 1;
        server.lost_commits = 1;
        server.refused_opens = 1;
    }
    output->append("1\n", 0);
    (void)run.snapshot(*output, 1);
    output->append("2\n", 1);
    (void)run.snapshot(*output, 2);
    wait_until([&] { return server.rows.size() == 2; });
    run.end(*output, 2);
    EXPECT_THAT(server.rows, ElementsAre("1", "2"));
    EXPECT_THAT(server.columns, ElementsAre("n"));
    ASSERT_GE(run.warnings.size(), 2U);
    EXPECT_THAT(run.warnings[0], HasSubstr("the server is gone; rows wait"));
    EXPECT_THAT(run.warnings[1], HasSubstr("connected again"));
}

TEST_F(LostTables, RowsOfARunWithoutSnapshotsAreGivenOnceMoreWhereTheTableTakesThem) {
    for (const bool takes_them : {true, false}) {
        server.takes_rows_again = takes_them;
        server.rows.clear();
        std::vector<std::string> warnings;
        RunScope scope;
        scope.on_warning([&warnings](const std::string& text) { warnings.push_back(text); });
        auto output = table(Writing::live);
        output->open("n\n", &scope);
        server.lost_writes = 1;
        server.refused_opens = takes_them ? 1 : 0;
        if (!takes_them) {
            EXPECT_THROW(output->append("1\n"), ConnectionLost);
            output->abandon();
            continue;
        }
        output->append("1\n");
        output->append("2\n");
        output->close();
        scope.commit();
        EXPECT_THAT(server.rows, ElementsAre("1", "2"));
        EXPECT_THAT(server.columns, ElementsAre("n"));
        ASSERT_EQ(warnings.size(), 2U);
        EXPECT_THAT(warnings[0], HasSubstr("the server is gone; the rows are sent once more"));
        EXPECT_THAT(warnings[1], HasSubstr("connected again"));
    }
}

TEST_F(LostTables, AReportSaysWhatIsAwayAndWhatWaits) {
    Snapshotted run;
    auto output = table();
    output->open("n\n", &run.scope);
    const auto now = [&] { return run.scope.connections().at(0); };
    EXPECT_TRUE(now().is_up);
    {
        const std::lock_guard lock(server.mutex);
        server.lost_writes = 1;
        server.refused_opens = 1'000;
    }
    output->append("12345\n", 0);
    EXPECT_EQ(now().bytes_held, 6U);
    (void)run.snapshot(*output, 1);
    wait_until([&] { return !now().is_up; });
    EXPECT_EQ(now().times_lost, 1U);
    EXPECT_EQ(now().bytes_held, 6U);
    EXPECT_EQ(now().reason, "the server is gone");
    {
        const std::lock_guard lock(server.mutex);
        server.refused_opens = 0;
    }
    wait_until([&] { return now().is_up && now().bytes_held == 0; });
    EXPECT_EQ(now().times_lost, 1U);
    run.end(*output, 1);
}

/// Of a table that keeps no epochs those of the last snapshot are added by the thread, while the
/// operator comes with its columns.
TEST_F(LostTables, ColumnsThatComeLateDoNotDisturbTheThread) {
    server.keeps_epochs = false;
    RunScope::Prepared before;
    {
        Snapshotted run;
        auto output = table();
        output->open("n\n", &run.scope);
        output->append("1\n", 0);
        before = run.snapshot(*output, 1, false);
        output->abandon();
    }
    server.is_slow = true;
    Snapshotted next(before, {.behind = 1, .last = 1});
    auto output = table();
    output->open({}, &next.scope);
    std::this_thread::sleep_for(50ms);
    output->begin_with("m\n");
    output->append("2\n", 0);
    (void)next.snapshot(*output, 2);
    wait_until([&] { return server.rows.size() == 2; });
    next.end(*output, 2);
    EXPECT_THAT(server.rows, ElementsAre("1", "2"));
    EXPECT_THAT(server.columns, ElementsAre("m"));
}

/// Of two processes of a stream one finds epochs that it has not added.
TEST_F(LostTables, AnotherProcessOfTheStreamIsSeen) {
    Snapshotted run;
    auto output = table();
    output->open({}, &run.scope);
    output->append("1\n", 0);
    (void)run.snapshot(*output, 1);
    wait_until([&] { return server.rows.size() == 1; });
    {
        const std::lock_guard lock(server.mutex);
        server.epochs.begin()->second = 7;
        server.lost_writes = 1;
    }
    output->append("2\n", 1);
    (void)run.snapshot(*output, 2);
    EXPECT_THAT(message_of<InputOutputError>([&] {
                    for (int i = 0; i != 6'000; ++i) {
                        output->append("3\n", 2);
                        std::this_thread::sleep_for(10ms);
                    }
                }),
                HasSubstr("has the rows of epoch 7, and this process has added 1"));
    EXPECT_THAT(server.rows, ElementsAre("1"));
    output->abandon();
}

}  // namespace
}  // namespace strid
