// SPDX-License-Identifier: Apache-2.0
//
// Windows over records that are large beside what the window needs of them, so that they are lifted
// before they are sent (engine/window/operators/lift.hpp), against the obvious computation
// (window_oracle.hpp), in every mode and composition. Those of a number of records are in
// lifted_counts_test.cpp.
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>

#include "wide_events.hpp"

namespace strid {
namespace {

using namespace test;
using testing::HasSubstr;

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
