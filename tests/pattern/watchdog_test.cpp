// SPDX-License-Identifier: Apache-2.0
//
// The watchdog names a node that blocks, and a loop that turns without end, and no loop that gets
// on.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
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
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

/// The reports of the watchdog, first to last.
class Reports {
  public:
    auto callback() {
        return [this](const std::vector<std::string>& names) {
            const std::lock_guard lock(mutex_);
            names_.insert(names_.end(), names.begin(), names.end());
            changed_.notify_all();
        };
    }
    /// The first text that contains this. For ever where none comes.
    std::string wait_for(const std::string& part) {
        std::unique_lock lock(mutex_);
        while (true) {
            for (const std::string& name : names_) {
                if (name.find(part) != std::string::npos) return name;
            }
            changed_.wait(lock);
        }
    }
    [[nodiscard]] std::vector<std::string> all() {
        const std::lock_guard lock(mutex_);
        return names_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> names_;
};

Options watched(Reports& reports, std::chrono::milliseconds period) {
    return {.execution = {.workers = 2, .watchdog = period, .on_stalled = reports.callback()}};
}

TEST(PatternWatchdog, NamesANodeThatBlocks) {
    Reports reports;
    std::atomic<bool> release{false};
    const auto blocks = [&release](std::uint64_t n) {
        if (n == 9) release.wait(false);
        return n;
    };
    auto all = accelerate<std::uint64_t>(
        pipeline(named("passes", square), named("stands still", blocks)), watched(reports, 40ms));
    all.offload(1);
    EXPECT_EQ(all.result(), 1U);
    all.offload(3);  // comes as 9
    EXPECT_EQ(reports.wait_for("stands"), "stands still 2");
    release = true;
    release.notify_all();
    EXPECT_EQ(all.result(), 9U);
}

TEST(PatternWatchdog, NamesALoopThatNeverEnds) {
    Reports reports;
    const auto forever = node<std::uint64_t>([](std::uint64_t n, auto& emit) {
        if (n == 7) return emit.again(n);
        emit(n);
    });
    auto all = accelerate<std::uint64_t>(named("refine", iterate(forever)), watched(reports, 40ms));
    all.offload(1);
    EXPECT_EQ(all.result(), 1U);
    all.offload(7);
    const std::string text = reports.wait_for("loop '");
    EXPECT_THAT(text, MatchesRegex("loop 'refine 1' has turned [0-9,]+ tasks for [0-9.]+ s and "
                                   "none has left"));
    all.cancel();
}

TEST(PatternWatchdog, MayEndALoopThatNeverEnds) {
    const auto forever =
        node<std::uint64_t>([](std::uint64_t n, auto& emit) { emit.again(n + 1); });
    const Options options{
        .execution = {.watchdog = 30ms, .on_stalled = [](const std::vector<std::string>& names) {
                          for (const std::string& name : names) {
                              if (name.starts_with("loop '")) throw Error("it is over: " + name);
                          }
                      }}};
    Collected<std::uint64_t> collected;
    try {
        run(pipeline(numbers(1), iterate(forever), collected.node()), options);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("it is over: loop 'loop 2' has turned "));
    }
}

TEST(PatternWatchdog, NamesTheLoopThatTurnsAndNotTheOneAroundIt) {
    Reports reports;
    const auto inner = node<std::uint64_t>([](std::uint64_t n, auto& emit) { emit.again(n); });
    const auto outer = node<std::uint64_t>([](std::uint64_t n, auto& emit) { emit(n); });
    auto all = accelerate<std::uint64_t>(
        named("outer", iterate(pipeline(named("inner", iterate(inner)), outer))),
        watched(reports, 30ms));
    all.offload(1);
    EXPECT_THAT(reports.wait_for("loop '"), HasSubstr("loop 'inner 2'"));
    all.cancel();
    for (const std::string& name : reports.all())
        EXPECT_THAT(name, testing::Not(HasSubstr("loop 'outer 1'")));
}

/// Tasks turn all the time, and leave or end in the loop after 999 turns each; then there are none.
TEST(PatternWatchdog, NamesNoLoopThatGetsOn) {
    Reports reports;
    const auto counted = node<std::uint64_t>([](std::uint64_t n, auto& emit) {
        if (n % 1000 != 0) return emit.again(n - 1);
        if (n == 1000) return;  // ends in the loop
        emit(n);
    });
    auto all = accelerate<std::uint64_t>(iterate(counted), watched(reports, 200ms));
    const auto until = std::chrono::steady_clock::now() + 700ms;
    while (std::chrono::steady_clock::now() < until) {
        all.offload(1999);
        all.offload(999);
        EXPECT_EQ(all.result(), 0U);
    }
    std::this_thread::sleep_for(500ms);  // nothing is in the loop
    for (const std::string& name : reports.all())
        EXPECT_THAT(name, testing::Not(HasSubstr("turned")));
}

/// One task goes round and nothing else enters: each turn something leaves, or ends in the loop.
TEST(PatternWatchdog, NamesNoLoopThatTasksLeave) {
    for (const bool leaves : {true, false}) {
        Reports reports;
        std::atomic<bool> enough{false};
        const auto turning = node<std::uint64_t>([&enough, leaves](std::uint64_t n, auto& emit) {
            if (n == 0) return;
            if (enough) return emit(n);
            emit.again(n);
            if (leaves) {
                emit(n);
            } else {
                emit.again(std::uint64_t{0});
            }
            std::this_thread::sleep_for(1ms);
        });
        auto all = accelerate<std::uint64_t>(iterate(turning), watched(reports, 150ms));
        all.offload(1);
        std::this_thread::sleep_for(600ms);
        enough = true;
        all.end();
        while (all.result()) {
        }
        for (const std::string& name : reports.all()) {
            EXPECT_THAT(name, testing::Not(HasSubstr("turned"))) << leaves;
        }
    }
}

}  // namespace
}  // namespace strid
