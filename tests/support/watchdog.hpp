// SPDX-License-Identifier: Apache-2.0
//
// Ends a test that hangs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

namespace strid::test {

/// Ends the process when it lives longer than `most`: a hang is a failure with a name.
class Watchdog {
  public:
    explicit Watchdog(std::chrono::seconds most = std::chrono::minutes{1})
        : thread_([this, most, test = testing::UnitTest::GetInstance()->current_test_info()] {
              std::unique_lock lock(mutex_);
              if (ended_.wait_for(lock, most, [this] { return done_; })) return;
              std::fprintf(stderr, "%s.%s: no end after %lld s\n", test->test_suite_name(),
                           test->name(), static_cast<long long>(most.count()));
              std::abort();
          }) {}
    ~Watchdog() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        ended_.notify_one();
        thread_.join();
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable ended_;
    bool done_ = false;
    std::thread thread_;
};

}  // namespace strid::test
