// SPDX-License-Identifier: Apache-2.0
//
// Sessions, and windows of a number of records, in a running graph against the obvious computation
// (windows.hpp), in every mode, with several parallelisms, and under simulation.
#include "windows.hpp"

namespace strid {
namespace {

using namespace test;

TEST(SessionsInAGraph, LastAsLongAsRecordsCome) {
    agrees(SessionWindows::with_gap(Duration{20}), sum, {});
    agrees(SessionWindows::with_gap(Duration{60}), sum, {.keys = 40});
    agrees(SessionWindows::with_gap(Duration{1}), sum, {.keys = 2, .step = 3});
    agrees(SessionWindows::with_gap(Duration{200}), sum, {.disorder = 300}, Duration{0});
}

TEST(SessionsInAGraph, FireAgainWhileTheyTakeLateRecords) {
    agrees_with_lateness(SessionWindows::with_gap(Duration{20}));
    agrees_with_lateness(SessionWindows::with_gap(Duration{70}));
}

TEST(CountWindowsInAGraph, FireWithTheRecordThatFillsThem) {
    const std::tuple<std::uint64_t, std::uint64_t> specs[] = {
        {10, 3}, {1, 1}, {5, 5}, {3, 10}, {400, 25}};
    for (const auto& [length, slide] : specs) {
        for (const std::uint64_t seed : test::seeds(8)) {
            const auto events = random_events(seed, {}, event_count);
            for (const OpenWindows at_end : {OpenWindows::fire, OpenWindows::drop}) {
                std::map<std::uint32_t, std::vector<Event>> by_key;
                for (const Event& event : events) by_key[event.key].push_back(event);
                std::vector<Row> oracle;
                for (const auto& [key, records] : by_key) {
                    for (std::size_t start = 0; start < records.size(); start += slide) {
                        const std::size_t end = std::min(start + length, records.size());
                        if (end - start < length && at_end == OpenWindows::drop) continue;
                        oracle.emplace_back(
                            key, start, end,
                            value_of(mean, {records.begin() + static_cast<std::ptrdiff_t>(start),
                                            records.begin() + static_cast<std::ptrdiff_t>(end)}));
                    }
                }
                Graph graph{"windows"};
                using Result = WindowResult<std::uint32_t, double, window::CountBounds>;
                auto rows = std::make_shared<Collected<Result>>();
                graph.source(replay(events))
                    .key_by<&Event::key>()
                    .window(CountWindows::sliding(length, slide), mean, {.at_end = at_end})
                    .sink([rows](const Result& row) { rows->add(row); });
                run(graph, run_options(seed));
                std::vector<Row> answer;
                for (const Result& row : rows->records()) {
                    answer.emplace_back(row.key, row.window.start, row.window.end, row.value);
                }
                std::sort(answer.begin(), answer.end());
                std::sort(oracle.begin(), oracle.end());
                ASSERT_EQ(answer, oracle) << length << '/' << slide << " seed " << seed;
            }
        }
    }
}

}  // namespace
}  // namespace strid
