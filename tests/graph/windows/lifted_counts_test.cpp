// SPDX-License-Identifier: Apache-2.0
//
// Windows of a number of records over records that are large beside what the window needs of them
// (lifted_windows_test.cpp), and streams that meet behind their edges.
#include <gmock/gmock.h>

#include "wide_events.hpp"

namespace strid {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;

/// Sealed, the records are sent whole; either way the answer is that of the records of each key.
template <bool sealed>
void counts_agree() {
    constexpr std::size_t length = 10;
    constexpr std::size_t slide = 3;
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {}, event_count);
        Graph graph{"lifted"};
        auto keyed = [&] {
            auto stream = graph.source(replay(widened(events))).key_by<&Wide::key>();
            if constexpr (sealed) {
                return std::move(stream).sealed();
            } else {
                return stream;
            }
        }();
        auto rows = std::make_shared<Collected<Row>>();
        std::move(keyed)
            .window(CountWindows::sliding(length, slide), window::sum<&Wide::value>(),
                    {.at_end = OpenWindows::drop})
            .sink([rows](const auto& row) {
                rows->add(
                    {row.key, row.window.start, row.window.end, static_cast<double>(row.value)});
            });
        const auto note = HasSubstr("what it needs of a record is sent");
        if constexpr (sealed) {
            ASSERT_THAT(graph.explain({}), Not(note));
        } else {
            ASSERT_THAT(graph.explain({}), note);
        }
        run(graph, run_options(seed));
        std::map<std::uint32_t, std::vector<std::int64_t>> values;
        for (const Event& event : events) values[event.key].push_back(event.value);
        std::vector<Row> oracle;
        for (const auto& [key, of_key] : values) {
            for (std::size_t start = 0; start + length <= of_key.size(); start += slide) {
                std::int64_t sum = 0;
                for (std::size_t i = start; i != start + length; ++i) sum += of_key[i];
                oracle.emplace_back(key, start, start + length, static_cast<double>(sum));
            }
        }
        std::vector<Row> answer = rows->records();
        std::sort(answer.begin(), answer.end());
        ASSERT_EQ(answer, oracle) << "seed " << seed;
    }
}

TEST(LiftedWindows, OfCountsAreThoseOfTheRecords) {
    counts_agree<false>();
    counts_agree<true>();
}

/// Streams of different sources that meet behind their edges carry whole records.
TEST(LiftedWindows, MergedStreamsWithTheSameKeyAreSentWhole) {
    Graph graph{"merged"};
    const auto events = random_events(1, {}, 300);
    auto first = graph.source(replay(widened(events)), {.name = "first"}).key_by<&Wide::key>();
    auto second = graph.source(replay(widened(events)), {.name = "second"})
                      .filter([](const Wide&) { return true; })
                      .key_by<&Wide::key>();
    std::int64_t total = 0;
    std::move(first)
        .merge(std::move(second))
        .window(CountWindows::tumbling(7), window::count())
        .sink([&total](const auto& row) { total += static_cast<std::int64_t>(row.value); });
    EXPECT_THAT(graph.explain({}), Not(HasSubstr("what it needs of a record is sent")));
    run(graph);
    EXPECT_EQ(total, 600);
}

}  // namespace
}  // namespace strid
