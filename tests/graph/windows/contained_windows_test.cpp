// SPDX-License-Identifier: Apache-2.0
//
// Containers of the user's in every kind of window, and functions that get the bounds of a window
// of time or of a session, against the obvious computation (window_oracle.hpp).
#include <deque>
#include <set>

#include <strid/window/aggregates/container.hpp>
#include <strid/window/aggregates/content.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

/// Keeps its values sorted, so that the middle is near at hand. It is given nothing wrong: no more
/// expires than there is.
class SortedValues {
  public:
    SortedValues() = default;
    SortedValues(const SortedValues& other) {
        EXPECT_EQ(other.size(), 0U) << "only an empty container is copied";
    }
    SortedValues& operator=(const SortedValues&) = delete;

    void insert(const Event& event) { order_.push_back(sorted_.insert(event.value)); }
    void expire(std::size_t count) {
        ASSERT_LE(count, order_.size());
        for (; count != 0; --count) {
            sorted_.erase(order_.front());
            order_.pop_front();
        }
    }
    void reset() {
        order_.clear();
        sorted_.clear();
    }
    [[nodiscard]] std::size_t size() const { return order_.size(); }
    [[nodiscard]] const std::multiset<std::int64_t>& content() const { return sorted_; }

  private:
    std::multiset<std::int64_t> sorted_;
    std::deque<std::multiset<std::int64_t>::iterator> order_;
};
static_assert(window::WindowContainer<SortedValues, Event>);

const auto contained_median =
    window::contained<Event>(SortedValues{}, [](const std::multiset<std::int64_t>& sorted) {
        return *std::next(sorted.begin(), static_cast<std::ptrdiff_t>(sorted.size() / 2));
    });

std::int64_t median(std::vector<std::int64_t> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

std::int64_t median_of(const std::vector<Event>& records) {
    std::vector<std::int64_t> values;
    for (const Event& event : records) values.push_back(event.value);
    return median(std::move(values));
}

std::vector<Row> sorted(std::vector<Row> rows) {
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// The results of what `build` puts behind the events, as rows that rise.
template <class Build>
std::vector<Row> rows_of(const std::vector<Event>& events, const RunOptions& options,
                         const Build& build) {
    std::vector<Row> rows;
    for (const auto& result : whole_stream(events, options, build)) {
        if constexpr (requires { result.window.start.ns(); }) {
            rows.emplace_back(result.key, result.window.start.ns(), result.window.end.ns(),
                              static_cast<double>(result.value));
        } else {
            rows.emplace_back(result.key, result.window.start, result.window.end,
                              static_cast<double>(result.value));
        }
    }
    return sorted(std::move(rows));
}

TEST(ContainedWindows, OfTimeAreThoseOfOneReplicaWhenFarmed) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {}, event_count);
        for (const auto& windows : {sliding(100, 25), sliding(30, 70)}) {
            const auto rows = rows_of(events, run_options(seed), [&](auto stream) {
                return std::move(stream).template key_by<&Event::key>().window(
                    windows, contained_median, share::farmed);
            });
            const auto oracle =
                expected(events, windows, Duration{50}, Duration::zero(), median_of);
            ASSERT_EQ(rows, oracle.rows) << "seed " << seed;
        }
    }
}

TEST(ContainedWindows, OfCountsAreThoseOfTheRecords) {
    for (const auto& [length, slide] : {std::pair{20U, 5U}, {7U, 7U}, {3U, 8U}, {2'000U, 100U}}) {
        const auto windows = CountWindows::sliding(length, slide);
        for (const std::uint64_t seed : test::seeds(4)) {
            const auto events = random_events(seed, {}, event_count);
            std::map<std::uint32_t, std::vector<std::int64_t>> of_keys;
            for (const Event& event : events) of_keys[event.key].push_back(event.value);
            std::vector<Row> oracle;
            for (const auto& [key, all] : of_keys) {
                for (std::size_t start = 0; start < all.size(); start += slide) {
                    const std::size_t end = std::min<std::size_t>(start + length, all.size());
                    oracle.emplace_back(
                        key, start, end,
                        static_cast<double>(median({all.data() + start, all.data() + end})));
                }
            }
            const auto by_key = rows_of(events, run_options(seed), [&](auto stream) {
                return std::move(stream).template key_by<&Event::key>().window(windows,
                                                                               contained_median);
            });
            ASSERT_EQ(by_key, oracle) << length << '/' << slide << " seed " << seed;
            const auto farmed = rows_of(events, run_options(seed), [&](auto stream) {
                return std::move(stream).template key_by<&Event::key>().window(
                    windows, contained_median, share::farmed);
            });
            ASSERT_EQ(farmed, oracle) << length << '/' << slide << " seed " << seed;
        }
    }
}

TEST(ContainedWindows, OfEverythingStartAnewWhereTheyAreCleared) {
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed, {}, event_count);
        const auto every_ninth = [n = 0](const Event&) mutable {
            return ++n % 9 == 0 ? window::Trigger::fire_and_clear : window::Trigger::wait;
        };
        std::map<std::uint32_t, std::vector<std::int64_t>> of_keys;
        for (const Event& event : events) of_keys[event.key].push_back(event.value);
        std::vector<Row> oracle;
        for (const auto& [key, all] : of_keys) {
            for (std::size_t start = 0; start < all.size(); start += 9) {
                const std::size_t end = std::min<std::size_t>(start + 9, all.size());
                oracle.emplace_back(
                    key, start, end,
                    static_cast<double>(median({all.data() + start, all.data() + end})));
            }
        }
        const auto rows = rows_of(events, run_options(seed), [&](auto stream) {
            return std::move(stream).template key_by<&Event::key>().window(
                window::global(every_ninth), contained_median);
        });
        ASSERT_EQ(rows, oracle) << "seed " << seed;
    }
}

/// Says how often it was copied and emptied.
struct Counters {
    std::atomic<int> copies{0};
    std::atomic<int> resets{0};
};
class CountedList {
  public:
    explicit CountedList(std::shared_ptr<Counters> counters) : counters_(std::move(counters)) {}
    CountedList(const CountedList& other) : counters_(other.counters_) { ++counters_->copies; }
    CountedList& operator=(const CountedList&) = delete;

    void insert(const Event& event) { values_.push_back(event.value); }
    void expire(std::size_t count) {
        values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    void reset() {
        ++counters_->resets;
        values_.clear();
    }
    [[nodiscard]] std::size_t size() const { return values_.size(); }
    [[nodiscard]] const std::vector<std::int64_t>& content() const { return values_; }

  private:
    std::shared_ptr<Counters> counters_;
    std::vector<std::int64_t> values_;
};

/// A replica uses one container for all windows that have theirs to themselves.
TEST(ContainedWindows, OfSessionsAreResetAndNotMadeAnew) {
    const auto sessions = SessionWindows::with_gap(Duration{20});
    const auto events = random_events(1, {.too_late = 0}, event_count);
    const auto counters = std::make_shared<Counters>();
    const auto sizes = window::contained<Event>(
        CountedList{counters}, [](const std::vector<std::int64_t>& all) { return all.size(); });
    const auto run_them = [&] {
        return rows_of(events, {.workers = 2, .parallelism = 2}, [&](auto stream) {
            return std::move(stream).template key_by<&Event::key>().window(sessions, sizes);
        });
    };
    const auto rows = run_them();
    ASSERT_EQ(rows, expected(events, sessions, Duration{50}, Duration::zero(), count_of).rows);
    ASSERT_GT(rows.size(), 200U);
    EXPECT_GE(counters->resets, static_cast<int>(rows.size()));
    EXPECT_LT(counters->copies, 100) << "those of the graph while it is built, a few a replica";
}

// ---- bounds ------------------------------------------------------------------------------------

/// Emits its arguments, twice where the window has an even number of records.
const auto echo =
    window::process<Event, Row>([](std::uint32_t key, const window::TimeBounds& bounds,
                                   std::span<const Event> all, auto& emit) {
        std::int64_t total = 0;
        for (const Event& event : all) {
            EXPECT_EQ(event.key, key);
            EXPECT_TRUE(event.time >= bounds.start && event.time < bounds.end);
            total += event.value;
        }
        const Row row{key, bounds.start.ns(), bounds.end.ns(), static_cast<double>(total)};
        emit(row);
        if (all.size() % 2 == 0) emit(row);
    });

template <class Windows>
std::vector<Row> expected_twice(const std::vector<Event>& events, const Windows& windows) {
    const auto sums = expected(events, windows, Duration{50}, Duration::zero(), sum_of).rows;
    const auto counts = expected(events, windows, Duration{50}, Duration::zero(), count_of).rows;
    std::vector<Row> rows;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto count = static_cast<std::int64_t>(std::get<3>(counts[i]));
        rows.insert(rows.end(), count % 2 == 0 ? 2 : 1, sums[i]);
    }
    return rows;
}

template <class Results>
std::vector<Row> echoed_rows(const Results& results) {
    std::vector<Row> rows;
    for (const auto& result : results) {
        EXPECT_EQ(result.value, (Row{result.key, result.window.start.ns(), result.window.end.ns(),
                                     std::get<3>(result.value)}))
            << "the function was given another window than it is the result of";
        rows.push_back(result.value);
    }
    return sorted(std::move(rows));
}

TEST(ProcessFunctions, AreGivenTheBoundsOfAWindowOfTime) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {}, event_count);
        for (const auto& windows : {sliding(100, 25), sliding(100, 100, 7), sliding(30, 70)}) {
            const auto oracle = expected_twice(events, windows);
            const auto by_key = whole_stream(events, run_options(seed), [&](auto stream) {
                return std::move(stream).template key_by<&Event::key>().window(windows, echo);
            });
            ASSERT_EQ(echoed_rows(by_key), oracle) << "seed " << seed;
            const auto farmed = whole_stream(events, run_options(seed), [&](auto stream) {
                return std::move(stream).template key_by<&Event::key>().window(windows, echo,
                                                                               share::automatic);
            });
            ASSERT_EQ(echoed_rows(farmed), oracle) << "seed " << seed;
        }
    }
}

TEST(ProcessFunctions, AreGivenTheBoundsOfASession) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {}, event_count);
        const auto sessions = SessionWindows::with_gap(Duration{40});
        const auto by_key = whole_stream(events, run_options(seed), [&](auto stream) {
            return std::move(stream).template key_by<&Event::key>().window(sessions, echo);
        });
        ASSERT_EQ(echoed_rows(by_key), expected_twice(events, sessions)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid
