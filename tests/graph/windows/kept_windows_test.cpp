// SPDX-License-Identifier: Apache-2.0
//
// Aggregates in a running graph by the structure that keeps their windows: each one that can be
// named, over windows that overlap little, much, and not at all; and aggregates whose states
// are several numbers. Against the obvious computation (window_oracle.hpp).
#include <cmath>

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

}  // namespace
}  // namespace strid
