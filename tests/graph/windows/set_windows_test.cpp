// SPDX-License-Identifier: Apache-2.0
//
// Windows in a running graph whose states own memory or are long: different values, exactly and
// approximately, the largest ones, and quantiles (set_windows.hpp).
#include "set_windows.hpp"

#include <strid/window/aggregates/quantile.hpp>

namespace strid {
namespace {

using namespace test;

template <class Windows, class A>
void agrees_with_records(const Windows& windows, const A& aggregate, const OfRecords& oracle,
                         const Shape& shape = {}) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, shape, event_count);
        const Setting setting{.run = run_options(seed)};
        const Answer answer = computed(events, windows, aggregate, setting);
        const Answer known = expected(events, windows, setting.bound, Duration::zero(), oracle);
        ASSERT_EQ(answer.rows, known.rows) << "seed " << seed;
        ASSERT_EQ(answer.late, known.late) << "seed " << seed;
    }
}

TEST(SetWindowsInAGraph, CountDifferentValues) {
    agrees_with_records(sliding(100, 100), remainders, remainders_of_records);
    agrees_with_records(sliding(400, 25), remainders, remainders_of_records);
    agrees_with_records(SessionWindows::with_gap(Duration{40}), remainders, remainders_of_records);
    agrees_with_records(sliding(200, 20), remainders, remainders_of_records, {.keys = 400});
}

TEST(SetWindowsInAGraph, CountDifferentValuesApproximately) {
    agrees_with_records(sliding(100, 100), about, sketch_of_records);
    agrees_with_records(sliding(1'000, 40), about, sketch_of_records, {.keys = 2});
    agrees_with_records(SessionWindows::with_gap(Duration{40}), about, sketch_of_records);
}

/// In one pane equal values stand as they came.
TEST(SetWindowsInAGraph, FindTheLargestAndSmallestOfAPane) {
    agrees_with_records(sliding(100, 100),
                        digits(window::top_k<3, Event>(field<&Event::value>, field<&Event::time>)),
                        sorted_by([](const Event& a, const Event& b) { return a.value > b.value; }),
                        {.keys = 2});
    agrees_with_records(
        sliding(300, 600),
        digits(window::bottom_k<3, Event>(field<&Event::value>, field<&Event::time>)),
        sorted_by([](const Event& a, const Event& b) { return a.value < b.value; }), {.keys = 2});
}

TEST(SetWindowsInAGraph, FindTheLargestOfManyPanes) {
    agrees_with_records(sliding(600, 25), largest, largest_of_records);
}

/// Fewer records than a sketch begins with: exact.
OfRecords quantile_of_records(double q) {
    return [q](std::vector<Event> records) {
        std::sort(records.begin(), records.end(),
                  [](const Event& a, const Event& b) { return a.value < b.value; });
        const double rank = q * static_cast<double>(records.size() - 1);
        const auto below = static_cast<std::size_t>(rank);
        const std::size_t above = std::min(below + 1, records.size() - 1);
        const auto value = [&](std::size_t at) { return static_cast<double>(records[at].value); };
        return value(below) + (rank - static_cast<double>(below)) * (value(above) - value(below));
    };
}

TEST(SetWindowsInAGraph, HaveQuantiles) {
    for (const double q : {0.0, 0.25, 0.5, 1.0}) {
        const auto aggregate = window::quantile(field<&Event::value>, q);
        agrees_with_records(sliding(100, 100), aggregate, quantile_of_records(q));
        agrees_with_records(sliding(100, 30), aggregate, quantile_of_records(q));
    }
    agrees_with_records(SessionWindows::with_gap(Duration{40}),
                        window::median(field<&Event::value>), quantile_of_records(0.5));
}

}  // namespace
}  // namespace strid
