// SPDX-License-Identifier: Apache-2.0
//
// Aggregates in a running graph by the structure that keeps their windows: each one that can be
// named, over windows that overlap little, much, and not at all; aggregates whose states are
// several numbers; and numbers that are none. Against the obvious computation (window_oracle.hpp).
#include <cmath>
#include <limits>

#include <strid/engine/window/structures/daba_lite.hpp>
#include <strid/engine/window/structures/flat_fat.hpp>
#include <strid/engine/window/structures/monotone_deque.hpp>
#include <strid/engine/window/structures/panes.hpp>
#include <strid/engine/window/structures/subtract_on_evict.hpp>
#include <strid/engine/window/structures/two_stacks.hpp>
#include <strid/window/aggregates/in_order.hpp>
#include <strid/window/aggregates/together.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

const auto largest = window::maximum<&Event::value>();

template <class A, class ValueOf>
void agrees_at_all_windows(const A& aggregate, const ValueOf& value_of) {
    agrees(sliding(100, 25), aggregate, value_of, {});
    agrees(sliding(100, 30, 7), aggregate, value_of, {});
    agrees(sliding(30, 70), aggregate, value_of, {.step = 40});
    agrees(sliding(6'000, 40), aggregate, value_of, {.keys = 3});
    agrees(sliding(1'000'000'000, 500'000'000), aggregate, value_of, {.keys = 2});
}

TEST(KeptWindows, InAFlatFat) {
    agrees_at_all_windows(window::kept_in<window::FlatFat>(sum), sum_of);
}
TEST(KeptWindows, InTwoStacks) {
    agrees_at_all_windows(window::kept_in<window::TwoStacks>(sum), sum_of);
}
TEST(KeptWindows, AsARunningTotal) {
    agrees_at_all_windows(window::kept_in<window::SubtractOnEvict>(sum), sum_of);
}
TEST(KeptWindows, InAMonotoneDeque) {
    agrees_at_all_windows(window::kept_in<window::MonotoneDeque>(largest), largest_of);
}
TEST(KeptWindows, InDabaLite) {
    agrees_at_all_windows(window::kept_in<window::DabaLite>(largest), largest_of);
}
TEST(KeptWindows, InATreeOfPanes) {
    agrees_at_all_windows(window::kept_in<window::PaneTree>(sum), sum_of);
}

/// Several at once, as one number.
struct Summary : decltype(window::together(window::count(), sum, largest)) {
    [[nodiscard]] double lower(const State& state) const {
        const auto [count, total, most] = state;
        return static_cast<double>(count) * 1e9 + static_cast<double>(total) * 1e3 +
               static_cast<double>(most.value);
    }
};

TEST(KeptWindows, OfSeveralAggregatesTogether) {
    agrees_at_all_windows(Summary{window::together(window::count(), sum, largest)},
                          [](const std::vector<Event>& all) {
                              return count_of(all) * 1e9 + sum_of(all) * 1e3 + largest_of(all);
                          });
}

/// Rounded to what no order of combination changes, off what fractions of small numbers are; NaN,
/// for one record, as a number that no variance is.
template <class A>
struct Rounded : A {
    [[nodiscard]] double lower(const typename A::State& state) const {
        const double value = A::lower(state);
        return std::isnan(value) ? -1 : std::round(value * 1e3 + 0.2718281828);
    }
};

TEST(KeptWindows, OfAVariance) {
    agrees_at_all_windows(
        Rounded<decltype(window::variance<&Event::value>())>{window::variance<&Event::value>()},
        [](const std::vector<Event>& all) {
            if (all.size() < 2) return -1.0;
            double squares = 0;
            for (const Event& event : all) {
                const double off = static_cast<double>(event.value) - mean_of(all);
                squares += off * off;
            }
            return std::round(squares / (count_of(all) - 1) * 1e3 + 0.2718281828);
        });
}

// ---- not a number ------------------------------------------------------------------------------

/// One in some twenty is none.
const auto at_times_none = [](const Event& event) {
    return event.value % 20 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : static_cast<double>(event.value);
};

/// A NaN as a number that no result here is.
template <class A>
struct ShowsNaN : A {
    [[nodiscard]] double lower(const typename A::State& state) const {
        const double value = A::lower(state);
        return std::isnan(value) ? 1e300 : value;
    }
};

template <class A, class Oracle>
void agrees_with(const A& aggregate, const Oracle& oracle) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {}, event_count);
        for (const auto& windows : {sliding(100, 25), sliding(100, 100), sliding(2'000, 40)}) {
            const Setting setting{.run = run_options(seed)};
            const Answer answer = computed(events, windows, aggregate, setting);
            const Answer naive = expected(events, windows, setting.bound, Duration::zero(), oracle);
            ASSERT_EQ(answer.rows, naive.rows) << "seed " << seed;
        }
    }
}

TEST(NotANumber, LeavesASumWithItsRecord) {
    const auto total = window::sum<Event>(at_times_none);
    agrees_with(ShowsNaN<std::remove_const_t<decltype(total)>>{total},
                [](const std::vector<Event>& all) {
                    double result = 0;
                    for (const Event& event : all) {
                        if (event.value % 20 == 0) return 1e300;
                        result += static_cast<double>(event.value);
                    }
                    return result;
                });
}

TEST(NotANumber, IsPassedOverByAMaximum) {
    const auto most = window::maximum<Event>(at_times_none);
    agrees_with(ShowsNaN<std::remove_const_t<decltype(most)>>{most},
                [](const std::vector<Event>& all) {
                    double result = 1e300;
                    for (const Event& event : all) {
                        if (event.value % 20 == 0) continue;
                        const auto value = static_cast<double>(event.value);
                        if (result == 1e300 || value > result) result = value;
                    }
                    return result;
                });
}

}  // namespace
}  // namespace strid
