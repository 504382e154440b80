// SPDX-License-Identifier: Apache-2.0
//
// The watchdog names whoever has work and does not get on with it, and nobody else.
#include <chrono>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include <strid/base/error.hpp>

#include "toy_tasks.hpp"

namespace strid::test {
namespace {

using namespace std::chrono_literals;

class Reports {
  public:
    std::function<void(const std::vector<std::string>&)> callback() {
        return [this](const std::vector<std::string>& names) {
            const std::lock_guard lock(mutex_);
            names_.insert(names.begin(), names.end());
        };
    }
    bool contains(const std::string& name) const {
        const std::lock_guard lock(mutex_);
        return names_.contains(name);
    }
    bool wait_for(const std::string& name) const {
        for (int i = 0; i < 5000 && !contains(name); ++i) std::this_thread::sleep_for(2ms);
        return contains(name);
    }

  private:
    mutable std::mutex mutex_;
    std::set<std::string> names_;
};

TEST(Watchdog, NamesATaskThatHangsInItsStep) {
    std::atomic<bool> release{false};
    FunctionTask hangs("hangs", [&](FunctionTask&) {
        release.wait(false);
        return StepResult::finished;
    });
    FunctionTask idle("idle", [](FunctionTask& task) {
        return task.stopping ? StepResult::finished : StepResult::waiting;
    });
    Reports reports;
    Execution execution({&hangs, &idle},
                        {.workers = 2, .watchdog = 40ms, .on_stalled = reports.callback()});
    execution.start();
    EXPECT_TRUE(reports.wait_for("hangs"));
    EXPECT_FALSE(reports.contains("idle"));
    EXPECT_EQ(execution.stalled(), std::vector<std::string>{"hangs"});
    release = true;
    release.notify_all();
    execution.stop();
    execution.wait();
}

TEST(Watchdog, NamesATaskThatIsReadyAndGetsNoWorker) {
    std::atomic<bool> release{false};
    FunctionTask hog("hog", [&](FunctionTask&) {
        release.wait(false);
        return StepResult::finished;
    });
    FunctionTask patient("patient", [](FunctionTask&) { return StepResult::finished; });
    Reports reports;
    // The consumer goes first, so the hog is the later one.
    Execution execution({&patient, &hog},
                        {.workers = 1, .watchdog = 40ms, .on_stalled = reports.callback()});
    execution.start();
    EXPECT_TRUE(reports.wait_for("patient"));
    release = true;
    release.notify_all();
    execution.wait();
}

TEST(Watchdog, NamesATaskThatWaitsWhileItHasInput) {
    FunctionTask stuck("stuck", [](FunctionTask& task) {
        return task.stopping ? StepResult::finished : StepResult::waiting;
    });
    stuck.work = true;
    Reports reports;
    Execution execution({&stuck}, {.watchdog = 40ms, .on_stalled = reports.callback()});
    execution.start();
    EXPECT_TRUE(reports.wait_for("stuck"));
    execution.stop();
    execution.wait();
}

TEST(Watchdog, MayEndTheExecution) {
    FunctionTask stuck("stuck", [](FunctionTask&) { return StepResult::waiting; });
    stuck.work = true;
    Execution execution({&stuck}, {.watchdog = 20ms, .on_stalled = [](const auto& names) {
                                       throw Error("stalled: " + names.front());
                                   }});
    execution.start();
    try {
        execution.wait();
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "stalled: stuck");
    }
}

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
