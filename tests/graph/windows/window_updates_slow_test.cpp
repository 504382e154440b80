// SPDX-License-Identifier: Apache-2.0
//
// Early results of windows, by the clock.
#include <chrono>
#include <thread>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

TEST(WindowUpdates, AreGivenEarlyWhileNothingComes) {
    Graph graph{"early"};
    auto [inlet, stream] = graph.inlet<Event>();
    auto outlet = std::move(stream)
                      .event_time<&Event::time>(MonotonousTime{})
                      .key_by<&Event::key>()
                      .window(sliding(10, 10), sum, UpdateOptions{.early_every = 20ms})
                      .outlet();
    Running running = start(graph, {.workers = 2});
    const auto next = [&] {
        for (;;) {
            if (auto update = outlet.try_pop()) return *update;
            std::this_thread::sleep_for(1ms);
        }
    };
    ASSERT_TRUE(inlet.push({1, at(5), 7}));
    auto update = next();
    EXPECT_EQ(update.revision, Revision::early);
    EXPECT_EQ(update.value, 7);
    ASSERT_TRUE(inlet.push({1, at(6), 1}));
    update = next();
    EXPECT_EQ(update.revision, Revision::early);
    EXPECT_EQ(update.value, 8);
    std::this_thread::sleep_for(60ms);
    EXPECT_FALSE(outlet.try_pop());  // nothing has changed
    inlet.close();
    update = outlet.pop().value();
    EXPECT_EQ(update.revision, Revision::first);
    EXPECT_EQ(update.value, 8);
    EXPECT_FALSE(outlet.pop());
    running.wait();
}

}  // namespace
}  // namespace strid
