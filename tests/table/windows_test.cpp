// SPDX-License-Identifier: Apache-2.0
//
// Windows and deduplication over chunks against plain loops over rows (window_model.hpp): random
// kinds of windows, keys, aggregates, disorder and lateness, chunks of random sizes, and a state
// that moves to another operator between two of them.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/table/step.hpp>
#include <strid/table/window.hpp>
#include <strid/test/harness.hpp>

#include "../../src/table/improved_plan.hpp"
#include "../support/seeds.hpp"
#include "random_windows.hpp"
#include "table_rows.hpp"
#include "window_model.hpp"

namespace strid::table {
namespace {

using test::random_spec;
using test::random_stream;
using test::Row;
using window::SessionWindows;

/// All that an operator gives for the rows, in chunks of random sizes.
struct Given {
    std::vector<Row> results;
    std::vector<Row> late;
    std::uint64_t late_count = 0;
};

template <class Make>
Given given(const Make& make, const std::vector<Row>& rows, std::mt19937_64& random) {
    ChunkMemory memory;
    const auto made = [&] {
        return std::make_unique<decltype(strid::test::Harness{TableStep<true>(make())})>(
            TableStep<true>(make()));
    };
    auto harness = made();
    Given found;
    const auto take = [&] {
        for (const Chunk& chunk : harness->take_emitted()) {
            for (Row& row : test::rows_of(chunk)) found.results.push_back(std::move(row));
        }
        for (const Chunk& chunk : harness->take_late()) {
            for (Row& row : test::rows_of(chunk)) found.late.push_back(std::move(row));
        }
    };
    const std::size_t longest = random() % 3 == 0 ? 2 : 100;
    for (std::size_t at = 0; at != rows.size();) {
        const std::size_t count = std::min<std::size_t>(1 + random() % longest, rows.size() - at);
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(at);
        harness->record(test::chunk_of(
            test::window_schema(),
            std::vector<Row>(begin, begin + static_cast<std::ptrdiff_t>(count)), memory));
        at += count;
        if (random() % 5 == 0) {
            take();
            found.late_count += harness->late_count();
            auto other = made();
            if (random() % 2 == 0) {
                other->restore(*harness);
            } else {
                other->restore(harness->saved());
            }
            harness = std::move(other);
        }
    }
    if (random() % 2 == 0) harness->make_room(random() % 3);
    while (!harness->end()) harness->make_room(1);
    take();
    found.late_count += harness->late_count();
    return found;
}

std::unique_ptr<TableOperator> timed(std::unique_ptr<TableOperator> one, std::int64_t disorder) {
    std::vector<std::unique_ptr<TableOperator>> operators;
    operators.push_back(event_time("at", Duration{disorder}, test::window_schema()));
    operators.push_back(std::move(one));
    return pipeline(std::move(operators), test::window_schema());
}

/// The last row for each key and its bounds, which are the first `columns`.
std::vector<Row> last_rows(const std::vector<Row>& rows, std::size_t columns) {
    std::map<Row, Row> last;
    for (const Row& row : rows) {
        last[Row(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(columns))] = row;
    }
    std::vector<Row> found;
    for (auto& [key, row] : last) found.push_back(row);
    return found;
}

TEST(TableWindows, AnswerAsPlainLoops) {
    std::size_t late_seen = 0;
    std::size_t results_seen = 0;
    for (const auto seed : strid::test::seeds(400)) {
        std::mt19937_64 random(seed);
        const WindowSpec spec = random_spec(random);
        std::int64_t disorder = static_cast<std::int64_t>(random() % 30);
        const auto rows = random_stream(random, random() % 400, disorder);
        if (random() % 8 == 0) disorder = std::numeric_limits<std::int64_t>::max();
        test::WindowModel model(spec, test::window_schema(), disorder);
        for (const Row& row : rows) model.add(row);
        model.end();
        Given found = given([&] { return timed(windowed(spec, test::window_schema()), disorder); },
                            rows, random);
        const std::string shown =
            windowed(spec, test::window_schema())->text() + "; seed " + std::to_string(seed);
        ASSERT_EQ(found.late, model.late) << shown;
        ASSERT_EQ(found.late_count, model.late.size()) << shown;
        const std::size_t columns = spec.keys.size() + 2;
        if (spec.lateness == Duration::zero()) {
            const auto end_of = [&](const Row& row) {
                return std::get<std::int64_t>(row[columns - 1]);
            };
            if (!spec.time.empty()) {
                ASSERT_TRUE(std::ranges::is_sorted(found.results, {}, end_of)) << shown;
            }
            std::ranges::sort(found.results);
        } else {
            found.results = last_rows(found.results, columns);
            // Sessions were given with other bounds before.
            if (std::holds_alternative<SessionWindows>(spec.windows)) {
                const std::set<Row> expected(model.results.begin(), model.results.end());
                std::erase_if(found.results,
                              [&](const Row& row) { return !expected.contains(row); });
            }
        }
        std::ranges::sort(model.results);
        const auto [one, other] = std::ranges::mismatch(found.results, model.results);
        const auto shown_at = [](auto at, const std::vector<Row>& rows) {
            return at == rows.end() ? std::string("none") : testing::PrintToString(*at);
        };
        ASSERT_TRUE(one == found.results.end() && other == model.results.end())
            << shown << "\nfound " << shown_at(one, found.results) << "\nexpected "
            << shown_at(other, model.results);
        late_seen += model.late.size();
        results_seen += model.results.size();
    }
    EXPECT_GT(late_seen, 400);
    EXPECT_GT(results_seen, 4000);
}

TEST(TableWindows, DeduplicateAsPlainLoops) {
    std::size_t dropped = 0;
    for (const auto seed : strid::test::seeds(100)) {
        std::mt19937_64 random(seed);
        const auto disorder = static_cast<std::int64_t>(random() % 30);
        const auto within = static_cast<std::int64_t>(1 + random() % 50);
        const auto rows = random_stream(random, random() % 400, disorder);
        const std::vector<std::string> columns = random() % 2 == 0
                                                     ? std::vector<std::string>{"k_int"}
                                                     : std::vector<std::string>{"k_text", "k_bool"};
        std::map<Row, std::vector<std::int64_t>> passed;
        std::vector<Row> expected;
        std::vector<Row> late;
        std::int64_t latest = test::time_min;
        for (const Row& row : rows) {
            const std::int64_t at = std::get<std::int64_t>(row[3]);
            if (latest != test::time_min && at < latest - disorder) {
                late.push_back(row);
                continue;
            }
            latest = std::max(latest, at);
            Row key;
            for (const std::string& name : columns)
                key.push_back(row[test::window_schema().place_of(name)]);
            auto& times = passed[key];
            const auto repeats = [&](std::int64_t one) { return std::abs(one - at) < within; };
            if (std::ranges::any_of(times, repeats)) {
                ++dropped;
                continue;
            }
            times.push_back(at);
            expected.push_back(row);
        }
        const Given found = given(
            [&] {
                return timed(deduplicate(columns, "at", Duration{within}, test::window_schema()),
                             disorder);
            },
            rows, random);
        ASSERT_EQ(found.results, expected) << seed;
        ASSERT_EQ(found.late, late) << seed;
    }
    EXPECT_GT(dropped, 1000);
}

// Bytes that are cut anywhere are refused; damaged ones are, or are those of another state. Nothing
// is left behind, nor read that is not there (with the sanitizers).
TEST(TableWindows, DamagedStatesAreRefusedOrStates) {
    std::size_t refused = 0;
    for (const auto seed : strid::test::seeds(24)) {
        std::mt19937_64 random(seed);
        const WindowSpec spec = random_spec(random);
        const auto make = [&] {
            return TableStep<true>(timed(
                seed % 4 == 0 ? deduplicate({"k_text"}, "at", Duration{10}, test::window_schema())
                              : windowed(spec, test::window_schema(), OnFault::null),
                100));
        };
        ChunkMemory memory;
        const Chunk rows =
            test::chunk_of(test::window_schema(), random_stream(random, 40, 10), memory);
        strid::test::Harness harness{make()};
        harness.record(rows);
        const auto saved = harness.saved();
        for (int i = 0; i != 20; ++i) {
            strid::test::SavedState cut = saved;
            cut.bytes.resize(random() % saved.bytes.size());
            strid::test::Harness other{make()};
            EXPECT_THROW(other.restore(cut), StateError);

            strid::test::SavedState damaged = saved;
            damaged.bytes[random() % saved.bytes.size()] = static_cast<std::byte>(random());
            strid::test::Harness another{make()};
            try {
                another.restore(damaged);
            } catch (const StateError&) {
                ++refused;
                continue;
            }
            another.record(rows);
            EXPECT_TRUE(another.end());
        }
    }
    EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace strid::table
