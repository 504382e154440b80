// SPDX-License-Identifier: Apache-2.0
//
// A run with snapshots that is stopped in its middle, for tests of sources that go on.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/stream/graph.hpp>

namespace strid::test {

/// Goes on behind the last snapshot, and stops when the graph has counted `most` in `passed`.
/// False: the run before had ended.
inline bool run_and_stop(const Graph& graph, const RunOptions& options,
                         const std::atomic<std::size_t>& passed, std::size_t most) {
    try {
        Running running = start(graph, options);
        while (passed.load() < most && !running.finished()) std::this_thread::yield();
        running.stop();
        (void)running.wait();
    } catch (const GraphError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("has reached its end"));
        return false;
    }
    return true;
}

}  // namespace strid::test
