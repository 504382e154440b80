// SPDX-License-Identifier: Apache-2.0
//
// Aggregates in a running graph over numbers that are none, against the obvious computation
// (window_oracle.hpp).
#include <cmath>
#include <limits>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

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
