// SPDX-License-Identifier: Apache-2.0
//
// Windows whose work is shared as their function allows, against the obvious computation
// (window_oracle.hpp), in every mode.
#include "distributed_windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// Values without a fraction, so that sums of them are exact in any order: only the type says that
/// they need not be.
const auto real_mean =
    window::mean([](const Event& event) { return static_cast<double>(event.value); });

TEST(AnyOrder, LetsReplicasShareWhatMayBeRounded) {
    const auto loose = window::any_order(real_mean);
    for (const auto& windows : shapes) {
        const Shape in_time{.too_late = 0};
        agrees_when_shared(combined(windows, loose), windows, mean_of, {});
        agrees_when_shared(paned(windows, loose), windows, mean_of, in_time);
        agrees_when_shared(map_reduced(windows, loose), windows, mean_of, in_time);
    }
}

/// The mean of integers is shared without being asked, that of other numbers is not; nor is
/// anything where one replica is asked for.
TEST(WindowsByDefault, AreThoseOfOneReplica) {
    const auto by_default = [](const auto& windows, const auto& aggregate,
                               std::size_t parallelism) {
        return [windows, aggregate, parallelism](auto&& grouped, WindowOptions options) {
            options.parallelism = parallelism;
            return std::move(grouped).window(windows, aggregate, share::automatic, options);
        };
    };
    for (const auto& windows : shapes) {
        for (const std::size_t parallelism : {0U, 1U}) {
            agrees_when_shared(by_default(windows, mean, parallelism), windows, mean_of, {});
            agrees_when_shared(by_default(windows, real_mean, parallelism), windows, mean_of, {});
        }
    }
}

}  // namespace
}  // namespace strid
