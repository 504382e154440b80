// SPDX-License-Identifier: Apache-2.0
//
// Windows of time that replicas put together from parts (papers 1 and 2: paned, map-reduce) against
// the obvious computation (window_oracle.hpp), in every mode.
#include "distributed_windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// Replicas that get some of the records each know the time at different moments: which of the
/// records that come too late still get into a window depends on the run. All others do, and none
/// is counted twice or lost.
template <class Share>
void loses_nothing_when_shared(const Share& share, const TimeWindows& windows, Duration lateness) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {.too_late = 900}, event_count);
        const SharedResults shared = run_shared(events, share, lateness, seed);
        const auto least = expected(events, windows, Duration{50}, lateness, count_of);
        const auto most = expected(events, windows, Duration{50}, Duration::max(), count_of);
        double in_windows = 0;
        for (const auto& [key, from, to, value] : most.rows) {
            const auto found = shared.last.find({key, from, to});
            if (found == shared.last.end()) continue;
            in_windows += found->second;
            ASSERT_LE(found->second, value) << "seed " << seed;
        }
        for (const auto& [key, from, to, value] : least.rows) {
            const auto found = shared.last.find({key, from, to});
            ASSERT_NE(found, shared.last.end()) << "seed " << seed;
            ASSERT_GE(found->second, value) << "seed " << seed;
        }
        ASSERT_LE(shared.late, least.late.size());
        if (windows.length() == windows.slide()) {
            ASSERT_EQ(in_windows + static_cast<double>(shared.late), events.size());
        }
    }
}

TEST(PanedWindows, AreThoseOfOneReplica) {
    for (const auto& windows : shapes) {
        agrees_when_shared(paned(windows, sum), windows, sum_of, {.too_late = 0});
    }
}

TEST(PanedWindows, LoseNothingThatIsLate) {
    for (const auto& windows : shapes) {
        for (const Duration lateness : {0ns, 200ns}) {
            loses_nothing_when_shared(paned(windows, window::count()), windows, lateness);
        }
    }
}

TEST(MapReduceWindows, AreThoseOfOneReplica) {
    for (const auto& windows : shapes) {
        agrees_when_shared(map_reduced(windows, sum), windows, sum_of, {.too_late = 0});
    }
}

TEST(MapReduceWindows, LoseNothingThatIsLate) {
    for (const auto& windows : shapes) {
        for (const Duration lateness : {0ns, 200ns}) {
            loses_nothing_when_shared(map_reduced(windows, window::count()), windows, lateness);
        }
    }
}

}  // namespace
}  // namespace strid
