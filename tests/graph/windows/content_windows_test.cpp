// SPDX-License-Identifier: Apache-2.0
//
// Windows of full content: functions of all records of a window, over the library's span and over a
// container of the user's, against the obvious computation (window_oracle.hpp).
#include <deque>
#include <numeric>
#include <set>

#include <strid/window/aggregates/content.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

/// No part of it can be computed before: the value in the middle.
double median(std::vector<std::int64_t> values) {
    std::sort(values.begin(), values.end());
    return static_cast<double>(values[values.size() / 2]);
}

template <class Records>
double median_of(const Records& records) {
    std::vector<std::int64_t> values;
    for (const Event& event : records) values.push_back(event.value);
    return median(std::move(values));
}

/// Depends on the order of the records.
template <class Records>
double in_order(const Records& records) {
    std::uint64_t hash = 1;
    for (const Event& event : records) {
        hash = hash * 31 + static_cast<std::uint64_t>(event.time.ns() * 7 + event.value);
    }
    return static_cast<double>(hash % 1'000'003);
}

const auto oracle_median = [](const std::vector<Event>& all) { return median_of(all); };
const auto oracle_in_order = [](std::vector<Event> all) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    return in_order(all);
};

const auto content_median =
    window::content<Event>([](std::span<const Event> all) { return median_of(all); });
const auto content_in_order = window::content<Event>(
    [](std::span<const Event> all) { return in_order(all); }, field<&Event::time>);

/// Keeps its values sorted, so that the middle is near at hand.
class SortedValues {
  public:
    void insert(const Event& event) { order_.push_back(sorted_.insert(event.value)); }
    void expire(std::size_t count) {
        for (; count != 0; --count) {
            sorted_.erase(order_.front());
            order_.pop_front();
        }
    }
    void reset() {
        order_.clear();
        sorted_.clear();
    }
    SortedValues() = default;
    SortedValues(const SortedValues& other) {
        EXPECT_EQ(other.size(), 0U) << "only an empty container is copied";
    }
    SortedValues& operator=(const SortedValues&) = delete;
    [[nodiscard]] std::size_t size() const { return order_.size(); }
    [[nodiscard]] const std::multiset<std::int64_t>& content() const { return sorted_; }

  private:
    std::multiset<std::int64_t> sorted_;
    std::deque<std::multiset<std::int64_t>::iterator> order_;
};
static_assert(window::WindowContainer<SortedValues, Event>);
static_assert(window::WindowContainer<window::SpanContainer<Event>, Event>);

const auto contained_median =
    window::contained<Event>(SortedValues{}, [](const std::multiset<std::int64_t>& sorted) {
        return static_cast<double>(
            *std::next(sorted.begin(), static_cast<std::ptrdiff_t>(sorted.size() / 2)));
    });

template <class Windows, class A, class O>
void agrees_with(const Windows& windows, const A& aggregate, const O& oracle, const Shape& shape,
                 Duration lateness = Duration::zero()) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, shape, event_count);
        const Setting setting{.options = {.lateness = lateness}, .run = run_options(seed)};
        const Answer answer = computed(events, windows, aggregate, setting);
        const Answer expected_answer = expected(events, windows, setting.bound, lateness, oracle);
        ASSERT_EQ(answer.rows, expected_answer.rows) << "seed " << seed;
        ASSERT_EQ(answer.late, expected_answer.late) << "seed " << seed;
    }
}

TEST(ContentWindows, AreGivenEveryRecordOfTheWindow) {
    agrees_with(sliding(100, 25), content_median, oracle_median, {});
    agrees_with(sliding(100, 100), content_median, oracle_median, {});
    agrees_with(sliding(30, 70), content_median, oracle_median, {.step = 40});
    agrees_with(sliding(400, 20), content_median, oracle_median, {.keys = 2});
    agrees_with(SessionWindows::with_gap(Duration{40}), content_median, oracle_median, {});
}

TEST(ContentWindows, AreInTheOrderOfTimeWhereAskedFor) {
    agrees_with(sliding(100, 25), content_in_order, oracle_in_order, {});
    agrees_with(sliding(100, 100), content_in_order, oracle_in_order, {.disorder = 0});
    agrees_with(SessionWindows::with_gap(Duration{40}), content_in_order, oracle_in_order, {});
}

TEST(ContentWindows, FireAgainWhileTheyTakeLateRecords) {
    agrees_with(sliding(100, 25), content_median, oracle_median, {.too_late = 900}, Duration{200});
    agrees_with(sliding(100, 25), content_in_order, oracle_in_order, {}, Duration{200});
    agrees_with(sliding(100, 25), contained_median, oracle_median, {}, Duration{90});
}

TEST(ContentWindows, StandInAContainerOfTheUsers) {
    agrees_with(sliding(100, 25), contained_median, oracle_median, {});
    agrees_with(sliding(50, 50), contained_median, oracle_median, {});
    agrees_with(SessionWindows::with_gap(Duration{40}), contained_median, oracle_median, {});
}

struct Seen {
    std::uint32_t key;
    std::uint64_t start;
    std::uint64_t end;
    std::size_t records;
    std::int64_t first;
};

/// Positions of a key's stream, given to the function with the key; those that the end cuts short.
TEST(ContentWindows, OfCountsHaveTheirKeyAndTheirBounds) {
    const std::uint64_t length = 10;
    for (const std::uint64_t slide : {1U, 4U, 10U, 13U}) {
        for (const std::uint64_t seed : test::seeds(4)) {
            const auto events = random_events(seed, {}, 500);
            std::map<std::uint32_t, std::vector<Event>> of_key;
            for (const Event& event : events) of_key[event.key].push_back(event);
            auto rows = std::make_shared<Collected<Seen>>();
            Graph graph{"counts"};
            graph.source(replay(events))
                .key_by<&Event::key>()
                .window(
                    CountWindows::sliding(length, slide),
                    window::content<Event>([](std::uint32_t key, const window::CountBounds& bounds,
                                              std::span<const Event> all) {
                        return Seen{key, bounds.start, bounds.end, all.size(), all.front().value};
                    }))
                .sink([rows](const auto& result) { rows->add(result.value); });
            run(graph, run_options(seed));
            std::size_t windows = 0;
            for (const auto& [key, all] : of_key) windows += (all.size() + slide - 1) / slide;
            const auto seen = rows->records();
            EXPECT_EQ(seen.size(), windows) << "slide " << slide;
            for (const Seen& one : seen) {
                const auto& all = of_key.at(one.key);
                EXPECT_EQ(one.end, std::min<std::uint64_t>(one.start + length, all.size()));
                EXPECT_EQ(one.records, one.end - one.start);
                EXPECT_EQ(one.first, all[one.start].value);
                EXPECT_EQ(one.start % slide, 0U);
            }
        }
    }
}

/// A window that ends with a record of the user's choice: at every third, and where it is large.
TEST(GlobalWindows, FireByTheTrigger) {
    using window::Trigger;
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed, {}, 500);
        using Fired = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::int64_t>;
        std::vector<Fired> oracle;
        struct Key {
            std::uint64_t start = 0, end = 0, fired = 0;
            std::int64_t sum = 0;
        };
        std::map<std::uint32_t, Key> keys;
        for (const Event& event : events) {
            Key& key = keys[event.key];
            key.sum += event.value;
            ++key.end;
            if (key.end % 3 != 0 && event.value <= 400) continue;
            oracle.emplace_back(event.key, key.start, key.end, key.sum);
            key.fired = key.end;
            if (event.value > 400) {
                key.sum = 0;
                key.start = key.end;
            }
        }
        for (const auto& [name, key] : keys) {
            if (key.fired != key.end) oracle.emplace_back(name, key.start, key.end, key.sum);
        }
        Graph graph{"global"};
        auto rows = std::make_shared<Collected<Fired>>();
        const auto trigger = [records = 0](const Event& event) mutable {
            if (event.value > 400) return ++records, Trigger::fire_and_clear;
            return ++records % 3 == 0 ? Trigger::fire : Trigger::wait;
        };
        graph.source(replay(events))
            .key_by<&Event::key>()
            .window(window::global(trigger), sum)
            .sink([rows](const auto& result) {
                rows->add({result.key, result.window.start, result.window.end, result.value});
            });
        run(graph, run_options(seed));
        auto answer = rows->records();
        std::sort(answer.begin(), answer.end());
        std::sort(oracle.begin(), oracle.end());
        EXPECT_EQ(answer, oracle) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid
