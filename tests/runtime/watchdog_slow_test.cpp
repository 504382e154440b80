// SPDX-License-Identifier: Apache-2.0
//
// The watchdog reports no task that takes its steps, as long as the machine lets it.
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "toy_tasks.hpp"

namespace strid::test {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, IsSilentWhileEverythingProgresses) {
    Chain chain(3, ~std::uint64_t{0});
    std::atomic<int> reports{0};
    Execution execution(chain.tasks(),
                        {.watchdog = 500ms, .on_stalled = [&](const auto&) { ++reports; }});
    execution.start();
    std::this_thread::sleep_for(1200ms);
    EXPECT_TRUE(execution.stalled().empty());
    execution.stop();
    execution.wait();
    EXPECT_EQ(reports, 0);
}

}  // namespace
}  // namespace strid::test
