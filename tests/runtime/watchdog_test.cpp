// SPDX-License-Identifier: Apache-2.0
//
// The watchdog names the tasks that have work and do not proceed, and no others.
#include <chrono>
#include <condition_variable>
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
            changed_.notify_all();
        };
    }
    bool contains(const std::string& name) const {
        const std::lock_guard lock(mutex_);
        return names_.contains(name);
    }
    /// Waits for ever if it is never released.
    void until(const std::string& name) const {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return names_.contains(name); });
    }

  private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
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
    reports.until("hangs");
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
    reports.until("patient");
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
    reports.until("stuck");
    execution.stop();
    execution.wait();
}

/// Steps all the time, and from its third call of standstill() on reports that it makes no
/// progress.
class Turning final : public Task {
  public:
    Turning() : Task("turning") {}
    StepResult step(std::int64_t& /*clock_ns*/) override {
        return stopping_ ? StepResult::finished : StepResult::progressed;
    }
    void request_stop() noexcept override { stopping_ = true; }
    std::string standstill() override { return ++asked_ < 3 ? "" : "turning comes to nothing"; }

  private:
    std::atomic<bool> stopping_{false};
    int asked_ = 0;  // the watchdog's thread
};

TEST(Watchdog, ReportsWhatATaskStatesOfItself) {
    Turning turning;
    Reports reports;
    Execution execution({&turning}, {.watchdog = 20ms, .on_stalled = reports.callback()});
    execution.start();
    reports.until("turning comes to nothing");
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

}  // namespace
}  // namespace strid::test
