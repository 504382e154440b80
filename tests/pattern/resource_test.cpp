// SPDX-License-Identifier: Apache-2.0
//
// Resources that several patterns share: no more nodes use one at once than may, all tasks are
// done, and a pattern that is cancelled gives back what was kept for it.
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/pattern/accelerator.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

/// A function that counts how many are in it.
struct Exclusive {
    std::atomic<int>* inside;
    std::atomic<int>* most;

    std::uint64_t operator()(std::uint64_t n) const {
        const int now = ++*inside;
        for (int seen = *most; seen < now && !most->compare_exchange_weak(seen, now);) {
        }
        std::this_thread::yield();
        --*inside;
        return n * n;
    }
};

TEST(Resource, IsUsedByNoMoreNodesAtOnce) {
    for (const std::size_t at_once : {1U, 2U}) {
        for (const Options& options : all_options()) {
            std::atomic<int> inside{0};
            std::atomic<int> most{0};
            const Exclusive use{&inside, &most};
            Resource device(at_once);
            auto farmed = accelerate<std::uint64_t>(
                farm(using_resource(device, use), FarmOptions{.workers = 3}), options);
            auto ordered = accelerate<std::uint64_t>(
                ordered_farm(fused(using_resource(device, use), [](std::uint64_t n) { return n; }),
                             FarmOptions{.workers = 2}),
                options);
            for (std::uint64_t n = 0; n < task_count; ++n) {
                farmed.offload(n);
                ordered.offload(n);
            }
            farmed.end();
            ordered.end();
            std::vector<std::uint64_t> all;
            while (const auto result = farmed.result()) all.push_back(*result);
            std::sort(all.begin(), all.end());
            ASSERT_EQ(all, squares());
            all.clear();
            while (const auto result = ordered.result()) all.push_back(*result);
            ASSERT_EQ(all, squares());
            farmed.wait();
            ordered.wait();
            EXPECT_EQ(device.free(), at_once);
            EXPECT_LE(most, static_cast<int>(at_once));
        }
    }
}

TEST(Resource, IsFreeAfterAFailure) {
    Resource device(1);
    auto failing = accelerate<int>(using_resource(device, [](int n) {
        if (n == 3) throw std::runtime_error("three");
        return n;
    }));
    EXPECT_THROW(
        {
            for (int n = 0; n < 100; ++n) failing.offload(n);
            failing.end();
            failing.wait();
        },
        OperatorError);
    EXPECT_EQ(device.free(), 1U);
}

/// One pattern holds it, others wait for it and are cancelled or destroyed meanwhile.
TEST(Resource, IsNotKeptForACancelledPattern) {
    for (int round = 0; round < 20; ++round) {
        Resource device(1);
        std::atomic<bool> open{false};
        std::atomic<bool> begun{false};
        auto holding = accelerate<int>(using_resource(device, [&](int n) {
            begun = true;
            while (!open) std::this_thread::yield();
            return n;
        }));
        holding.offload(1);
        while (!begun) std::this_thread::yield();
        auto pass = using_resource(device, [](int n) { return n; });
        auto cancelled = accelerate<int>(pass);
        cancelled.offload(2);
        {
            auto destroyed = accelerate<int>(pass);
            destroyed.offload(3);
        }
        auto last = accelerate<int>(pass);
        last.offload(4);
        std::thread cancel([&cancelled] { cancelled.cancel(); });
        open = true;
        EXPECT_EQ(last.result(), 4);
        EXPECT_EQ(holding.result(), 1);
        cancel.join();
    }
}

TEST(Resource, ForNoNodeIsRefused) {
    EXPECT_THROW(Resource(0), GraphError);
}

}  // namespace
}  // namespace strid
