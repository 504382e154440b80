// SPDX-License-Identifier: Apache-2.0
//
// Windows of the whole stream, against the obvious computation (window_oracle.hpp), in every mode.
#include <strid/window/aggregates/content.hpp>

#include "distributed_windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// Runs a graph over the whole stream, as one group; the results in the order in which they came.
TEST(WindowsOfTheWholeStream, AreInTheOrderOfTheirEnds) {
    const auto windows = sliding(100, 25);
    const auto how_many = window::content<Event>(
        [](std::span<const Event> all) { return all.size(); }, field<&Event::time>);
    for (const std::uint64_t seed : test::seeds(8)) {
        auto events = random_events(seed, {.too_late = 0}, event_count);
        for (Event& event : events) event.key = 0;
        const auto oracle = expected(events, windows, Duration{50}, Duration::zero(), sum_of).rows;
        const auto by_default = whole_stream(events, run_options(seed), [&](auto&& stream) {
            return std::move(stream).window(windows, sum);
        });
        const auto counts = whole_stream(events, run_options(seed), [&](auto&& stream) {
            return std::move(stream).window(windows, how_many);
        });
        ASSERT_EQ(by_default.size(), oracle.size());
        ASSERT_EQ(counts.size(), oracle.size());
        for (std::size_t i = 0; i < oracle.size(); ++i) {
            const auto& [key, start, end, value] = oracle[i];
            ASSERT_EQ(by_default[i].window.start.ns(), start) << "seed " << seed;
            ASSERT_EQ(static_cast<double>(by_default[i].value), value);
            ASSERT_EQ(counts[i].window.start.ns(), start) << "seed " << seed;
        }
    }
}

/// All kinds with late records, and one window with a trigger: as those of a key that all have.
TEST(WindowsOfTheWholeStream, HaveLateRecordsAndTriggers) {
    for (const std::uint64_t seed : test::seeds(8)) {
        auto events = random_events(seed, {.keys = 1}, event_count);
        const auto agree = [&](const auto& windows) {
            Graph graph{"whole"};
            auto [results, late] = graph.source(replay(events))
                                       .event_time<&Event::time>(BoundedDisorder{Duration{50}})
                                       .window(windows, sum, late_apart);
            auto rows = std::make_shared<Collected<Row>>();
            auto late_rows = std::make_shared<Collected<Event>>();
            std::move(results).sink([rows](const auto& row) {
                rows->add({0, row.window.start.ns(), row.window.end.ns(),
                           static_cast<double>(row.value)});
            });
            std::move(late).sink(collect_into(late_rows));
            run(graph, run_options(seed));
            Answer answer{rows->records(), late_rows->records()};
            sort(answer);
            ASSERT_EQ(answer, expected(events, windows, Duration{50}, Duration::zero(), sum_of))
                << "seed " << seed;
        };
        agree(sliding(100, 25));
        agree(window::SessionWindows::with_gap(40ns));

        const auto every_tenth = [n = 0](const Event&) mutable {
            return ++n % 10 == 0 ? window::Trigger::fire_and_clear : window::Trigger::wait;
        };
        const auto tens = whole_stream(events, run_options(seed), [&](auto&& stream) {
            return std::move(stream).window(window::global(every_tenth), sum);
        });
        ASSERT_EQ(tens.size(), (events.size() + 9) / 10);
        for (std::size_t i = 0; i < events.size(); i += 10) {
            const auto begin = events.begin() + static_cast<std::ptrdiff_t>(i);
            const auto end =
                events.begin() + static_cast<std::ptrdiff_t>(std::min(i + 10, events.size()));
            ASSERT_EQ(static_cast<double>(tens[i / 10].value), sum_of({begin, end}))
                << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace strid
