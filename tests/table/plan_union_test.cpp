// SPDX-License-Identifier: Apache-2.0
//
// Unions of plans: their rows, the watermark of the slowest, and what is parsed.
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/table/plan.hpp>

#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "table_rows.hpp"

namespace strid::table {
namespace {

using namespace std::chrono_literals;
using strid::test::Folder;
using testing::HasSubstr;

Schema readings() {
    return Schema({{"at", {Kind::time}}, {"key", {Kind::int64}}, {"note", {Kind::int64}}});
}

Plan timed(const std::string& path) {
    return Plan::read_csv(path, readings()).event_time("at", 1s);
}

WindowSpec by_key() {
    return {.keys = {"key"},
            .windows = window::TimeWindows::tumbling(10s),
            .aggregates = parse_aggregates("count")};
}

TEST(PlanUnion, GivesTheRowsOfAllPlans) {
    for (const auto seed : strid::test::seeds(24)) {
        std::mt19937_64 random(seed);
        const Folder folder;
        std::map<test::Row, std::int64_t> expected;
        const auto plan_of = [&](int number) {
            std::string text = "at,key,note\n";
            std::int64_t now = 1'000;
            for (auto rows = random() % 2'000; rows != 0; --rows) {
                now += static_cast<std::int64_t>(random() % 200);
                const std::int64_t at = now - static_cast<std::int64_t>(random() % 1'000);
                const auto key = static_cast<std::int64_t>(random() % 5);
                text += fmt::format("{},{},x\n", at, key);
                if (number != 0 || key != 1) {
                    ++expected[{key, at / 10'000 * 10'000 * 1'000'000}];
                }
            }
            const Plan plan = timed(folder.write(fmt::format("{}.csv", number), text));
            return number == 0 ? plan.filter(col("key") != 1) : plan;
        };
        const Plan inner = Plan::union_all({plan_of(1), plan_of(2)});
        const Plan plan =
            Plan::union_all({plan_of(0), seed % 3 == 0 ? inner.limit(1'000'000) : inner})
                .window(by_key());
        std::map<test::Row, std::int64_t> found;
        const RunReport report =
            run(plan,
                [&found](const Chunk& chunk) {
                    for (test::Row& row : test::rows_of(chunk)) {
                        const bool is_new =
                            found.insert({{row[0], row[1]}, std::get<std::int64_t>(row[3])}).second;
                        EXPECT_TRUE(is_new);
                    }
                },
                {.workers = 1 + seed % 2});
        ASSERT_EQ(found, expected) << seed;
        ASSERT_EQ(report.find("compute")->records_late, 0);
    }
}

TEST(PlanUnion, ExplainsItself) {
    const Plan plan =
        Plan::union_all({timed("a.csv"), timed("b.csv").filter(col("key") > 1)}).window(by_key());
    EXPECT_EQ(plan.explain(),
              "read a.csv: at time, key int64 (2 of 3 columns)\n"
              "event time at, disorder 1s\n"
              "project at, key\n"
              "read b.csv: at time, key int64 (2 of 3 columns)\n"
              "event time at, disorder 1s\n"
              "filter key > 1\n"
              "project at, key\n"
              "union all of 2: at time, key int64\n"
              "window tumbling 10s of at by key: count\n");
}

TEST(PlanUnion, IsRefused) {
    const auto refused = [](const auto& make) {
        try {
            (void)make();
        } catch (const GraphError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(refused([] { return Plan::union_all({}); }), HasSubstr("there is no plan"));
    EXPECT_THAT(refused([] {
                    return Plan::union_all({timed("a.csv"), timed("b.csv").window(by_key())});
                }),
                HasSubstr("the columns are at time, key int64"));
    EXPECT_THAT(refused([] {
                    return Plan::union_all({timed("a.csv"), timed("b.csv").write_csv("out.csv")});
                }),
                HasSubstr("writes to out.csv"));
    EXPECT_THAT(refused([] {
                    return Plan::union_all({timed("a.csv"), Plan::read_csv("b.csv", readings())})
                        .window(by_key());
                }),
                HasSubstr("there is no event time"));
}

}  // namespace
}  // namespace strid::table
