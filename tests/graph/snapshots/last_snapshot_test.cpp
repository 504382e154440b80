// SPDX-License-Identifier: Apache-2.0
//
// A stop whose last snapshot finds that the stream has ended.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/strid.hpp>

#include "../../support/folder.hpp"

namespace strid::test {
namespace {

using namespace std::chrono_literals;

/// Emits a number, and ends when it may, without looking at snapshots before.
struct EndsWhenAllowed {
    using record_type = int;
    static constexpr SourceTraits traits{.hears = events<>};
    std::shared_ptr<std::atomic<bool>> may_end = std::make_shared<std::atomic<bool>>(false);
    bool has_emitted = false;

    template <class EmitRecord>
    SourceStatus poll(EmitRecord& emit, std::size_t /*budget*/) {
        if (!std::exchange(has_emitted, true)) {
            (void)emit(1);
            return SourceStatus::more;
        }
        while (!*may_end) std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(20ms);  // the snapshot begins
        return SourceStatus::finished;
    }
    auto state() { return std::tie(has_emitted); }
};

TEST(LastSnapshot, OfAStreamThatHasEndedIsTheEnd) {
    const Folder folder;
    RunOptions options;
    options.snapshots = {.folder = folder.file("state"), .every = 1h};
    const auto run = [&] {
        const EndsWhenAllowed source;
        std::vector<int> rows;
        Graph graph{"ends"};
        graph.source(source, {.name = "source", .parallelism = 1}).sink([&rows](int row) {
            rows.push_back(row);
        });
        Running running = start(graph, options);
        // The one that begins with the run is stored before the source waits, or is the last.
        std::this_thread::sleep_for(50ms);
        running.stop();
        *source.may_end = true;
        (void)running.wait();
        return rows;
    };
    EXPECT_THAT(run(), testing::ElementsAre(1));
    EXPECT_THROW((void)run(), GraphError) << "it would take no record, and say nothing";
}

}  // namespace
}  // namespace strid::test
