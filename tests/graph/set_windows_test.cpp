// SPDX-License-Identifier: Apache-2.0
//
// Windows in a running graph whose states own memory or are long: different values, exactly and
// approximately, the largest ones, and quantiles. Their answers are computed from the list of each
// window's records (window_oracle.hpp), without the aggregates.
#include <cmath>
#include <functional>
#include <set>

#include <strid/window/aggregates/distinct.hpp>
#include <strid/window/aggregates/quantile.hpp>
#include <strid/window/aggregates/top_k.hpp>

#include "windows.hpp"

namespace strid {
namespace {

using namespace test;

/// A number computed of all records of a window.
using OfRecords = std::function<double(const std::vector<Event>&)>;

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

std::int64_t remainder_of(const Event& event) {
    return event.value % 7;
}

const auto remainders = window::distinct<Event>(remainder_of);
const OfRecords remainders_of_records = [](const std::vector<Event>& records) {
    std::set<std::int64_t> values;
    for (const Event& event : records) values.insert(remainder_of(event));
    return static_cast<double>(values.size());
};

TEST(SetWindowsInAGraph, CountDifferentValues) {
    agrees_with_records(sliding(100, 100), remainders, remainders_of_records);
    agrees_with_records(sliding(400, 25), remainders, remainders_of_records);
    agrees_with_records(SessionWindows::with_gap(Duration{40}), remainders, remainders_of_records);
    agrees_with_records(sliding(200, 20), remainders, remainders_of_records, {.keys = 400});
}

const auto about = window::distinct_approximately<4>(field<&Event::value>);
const OfRecords sketch_of_records = [](const std::vector<Event>& records) {
    std::set<std::int64_t> values;
    for (const Event& event : records) values.insert(event.value);
    window::HyperLogLog<4> sketch;
    for (const std::int64_t value : values) sketch.add(value);
    return std::round(sketch.estimate());
};

TEST(SetWindowsInAGraph, CountDifferentValuesApproximately) {
    agrees_with_records(sliding(100, 100), about, sketch_of_records);
    agrees_with_records(sliding(1'000, 40), about, sketch_of_records, {.keys = 2});
    agrees_with_records(SessionWindows::with_gap(Duration{40}), about, sketch_of_records);
}

/// The values of a window's first three as the digits of a number, 0 where there is none.
template <class List, class DigitOf>
double digits_of(const List& list, DigitOf&& digit_of) {
    double number = 0;
    for (std::size_t rank = 0; rank < 3; ++rank) {
        number = number * 102'000 +
                 (rank < list.size() ? static_cast<double>(digit_of(list[rank]) + 1) : 0);
    }
    return number;
}

/// From 0 to 101,000.
std::int64_t digit_of(std::int64_t value, EventTime time) {
    return (value + 500) * 100 + (time.ns() % 100 + 100) % 100;
}

/// An aggregate whose result is the digits of its list.
template <class A>
struct Digits : A {
    [[nodiscard]] double lower(const typename A::State& state) const {
        return digits_of(state, [](const auto& ranked) {
            if constexpr (requires { ranked.value.second; }) {
                return digit_of(ranked.value.first, ranked.value.second);
            } else {
                return digit_of(ranked.value, ranked.item);
            }
        });
    }
};
template <class A>
Digits<A> digits(A aggregate) {
    return {std::move(aggregate)};
}

/// The first three of all records, sorted.
template <class Before>
OfRecords sorted_by(Before before) {
    return [before](std::vector<Event> records) {
        std::stable_sort(records.begin(), records.end(), before);
        return digits_of(records,
                         [](const Event& event) { return digit_of(event.value, event.time); });
    };
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

std::pair<std::int64_t, EventTime> value_and_time(const Event& event) {
    return {event.value, event.time};
}
const auto largest = digits(window::top_k<3, Event>(value_and_time));
const OfRecords largest_of_records =
    sorted_by([](const Event& a, const Event& b) { return value_and_time(a) > value_and_time(b); });

TEST(SetWindowsInAGraph, FindTheLargestOfManyPanes) {
    agrees_with_records(sliding(600, 25), largest, largest_of_records);
}

/// `share(grouped)` gives the windows of a grouped stream; `why` is what explain() says of them.
template <class Share>
void agrees_when_shared(const TimeWindows& windows, const OfRecords& oracle, const Share& share,
                        const std::string& why = "") {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {.too_late = 0}, event_count);
        Graph graph{"shared"};
        auto rows = std::make_shared<Collected<Row>>();
        share(graph.source(replay(events))
                  .event_time<&Event::time>(BoundedDisorder{Duration{50}})
                  .template key_by<&Event::key>())
            .sink([rows](const auto& result) {
                rows->add({result.key, result.window.start.ns(), result.window.end.ns(),
                           static_cast<double>(result.value)});
            });
        ASSERT_NE(graph.explain({}).find(why), std::string::npos) << graph.explain({});
        run(graph, run_options(seed));
        auto answer = rows->records();
        std::sort(answer.begin(), answer.end());
        ASSERT_EQ(answer, expected(events, windows, Duration{50}, Duration::zero(), oracle).rows)
            << "seed " << seed;
    }
}
template <class A>
void agrees_in_panes(const TimeWindows& windows, const A& aggregate, const OfRecords& oracle) {
    agrees_when_shared(windows, oracle, [&](auto grouped) {
        return std::move(grouped).window(windows, aggregate, share::paned);
    });
}

/// Any replica may compute a pane: unions and lists of pairs do not depend on their order.
TEST(SetWindowsInAGraph, CombinePanesOfDifferentReplicas) {
    agrees_in_panes(sliding(100, 25), remainders, remainders_of_records);
    agrees_in_panes(sliding(400, 50), about, sketch_of_records);
    agrees_in_panes(sliding(100, 100), largest, largest_of_records);
}

/// Whatever the windows and the replicas that are asked for.
TEST(SetWindowsInAGraph, AreSharedInPanesByThemselves) {
    const auto by_default = [](const TimeWindows& windows, std::size_t parallelism,
                               const std::string& why) {
        agrees_when_shared(
            windows, remainders_of_records,
            [&](auto grouped) {
                return std::move(grouped).window(windows, remainders, share::automatic,
                                                 {.parallelism = parallelism});
            },
            why);
    };
    by_default(sliding(100, 25), 0, "paned: the aggregate is commutative");
    by_default(sliding(100, 35), 0, "share::map_reduce would send one part of a window for 7");
    by_default(sliding(100, 35), 3, "paned: ");
    by_default(sliding(100, 35), 1, "paned: ");
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
