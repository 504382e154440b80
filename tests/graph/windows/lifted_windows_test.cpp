// SPDX-License-Identifier: Apache-2.0
//
// Windows over records that are large beside what the window needs of them, so that they are lifted
// before they are sent (engine/window/operators/lift.hpp), against the obvious computation
// (window_oracle.hpp), in every mode and composition.
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>

#include "wide_events.hpp"

namespace strid {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;

constexpr auto value_of_wide = [](const Wide& wide) { return wide.value; };
constexpr auto key_of_wide = [](const Wide& wide) { return wide.key; };

template <class T, class A>
constexpr bool lifts = window::Lift<T, decltype(key_of_wide), std::uint32_t, A>::pays;
static_assert(lifts<Wide, decltype(window::sum<Wide>(value_of_wide))>);
static_assert(lifts<Wide, decltype(window::mean(value_of_wide))>);
static_assert(!lifts<Wide, decltype(window::variance(value_of_wide))>,
              "a state that is rounded otherwise where states are combined");

template <class A, class ValueOf>
void times_agree(const TimeWindows& windows, const A& over_wide, const ValueOf& value_of,
                 Duration lateness) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {}, event_count);
        Graph graph{"lifted"};
        auto rows = std::make_shared<Collected<Row>>();
        graph.source(replay(widened(events)))
            .event_time(field<&Wide::time>, BoundedDisorder{Duration{50}})
            .template key_by<&Wide::key>()
            .window(windows, over_wide, {.lateness = lateness})
            .sink(ToRows{rows});
        ASSERT_THAT(graph.explain({}), HasSubstr("what it needs of a record is sent"));
        const RunReport report = run(graph, run_options(seed));
        std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, double> last;
        for (const auto& [key, from, to, value] : rows->records()) {
            last.insert_or_assign({key, from, to}, value);
        }
        const auto oracle = expected(events, windows, Duration{50}, lateness, value_of);
        ASSERT_EQ(last.size(), oracle.rows.size()) << "seed " << seed;
        for (const auto& [key, from, to, value] : oracle.rows) {
            ASSERT_EQ(last.at({key, from, to}), value) << key << " at " << from << " seed " << seed;
        }
        ASSERT_EQ(late_in(report), oracle.late.size()) << "seed " << seed;
    }
}

TEST(LiftedWindows, OfTimeAreThoseOfTheRecords) {
    for (const auto& windows : {TimeWindows::sliding(Duration{100}, Duration{25}),
                                TimeWindows::tumbling(Duration{100}, Duration{7}),
                                TimeWindows::sliding(Duration{30}, Duration{70})}) {
        for (const Duration lateness : {Duration{0}, Duration{200}}) {
            times_agree(windows, window::count(), count_of, lateness);
            times_agree(windows, window::sum<Wide>(value_of_wide), sum_of, lateness);
            times_agree(windows, window::sum(field<&Wide::value>), sum_of, lateness);
            times_agree(windows, window::mean(value_of_wide), mean_of, lateness);
            times_agree(windows, window::maximum(field<&Wide::value>), largest_of, lateness);
        }
    }
}

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

/// An exception of the window's functions names the window, though they run before the edge.
TEST(LiftedWindows, AFunctionThatThrowsNamesTheWindow) {
    for (const std::uint64_t seed : test::seeds(6)) {
        Graph graph{"throwing"};
        const auto throwing = [](const Wide& wide) -> std::int64_t {
            if (wide.value == 77) throw std::runtime_error("no sum today");
            return wide.value;
        };
        std::vector<Wide> records(500);
        for (std::size_t i = 0; i < records.size(); ++i) {
            records[i].key = static_cast<std::uint32_t>(i % 3);
            records[i].value = static_cast<std::int64_t>(i);
        }
        auto keyed = graph.source(replay(records), {.name = "records"})
                         .event_time<&Wide::time>(MonotonousTime{})
                         .key_by<&Wide::key>();
        const auto sums = window::sum<Wide>(throwing);
        const WindowOptions named{.name = "sums"};
        if (seed % 2 == 0) {
            std::move(keyed).window(CountWindows::tumbling(10), sums, named).sink([](const auto&) {
            });
        } else {
            std::move(keyed)
                .window(TimeWindows::tumbling(Duration{10}), sums, named)
                .sink([](const auto&) {});
        }
        try {
            run(graph, run_options(seed));
            ADD_FAILURE() << "nothing was thrown";
        } catch (const OperatorError& error) {
            EXPECT_EQ(error.operator_name(), "sums");
            EXPECT_THAT(error.what(), HasSubstr("no sum today"));
        }
    }
}

}  // namespace
}  // namespace strid
