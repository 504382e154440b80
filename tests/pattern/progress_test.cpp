// SPDX-License-Identifier: Apache-2.0
//
// The line of progress, word for word, and where it is shown: on a terminal, and nowhere else. The
// terminal is a pseudo-terminal that stands in for standard error.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

/// As long as it lives, standard error is another descriptor.
class StandardError {
  public:
    explicit StandardError(int descriptor) : before_(::dup(STDERR_FILENO)) {
        ::dup2(descriptor, STDERR_FILENO);
    }
    StandardError(const StandardError&) = delete;
    StandardError& operator=(const StandardError&) = delete;
    ~StandardError() {
        ::dup2(before_, STDERR_FILENO);
        ::close(before_);
    }

  private:
    int before_;
};

/// All that can be read now.
std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 4096> buffer{};
    pollfd asked{descriptor, POLLIN, 0};
    while (::poll(&asked, 1, 100) == 1 && (asked.revents & POLLIN) != 0) {
        const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
        if (count <= 0) break;
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
}

/// Tasks that take 450 ms in all.
void run_for_a_while(const Options& options) {
    run(pipeline(numbers(45), [](std::uint64_t) { std::this_thread::sleep_for(10ms); }), options);
}

Report report_of(std::uint64_t done, double seconds) {
    Report report;
    report.network.nodes = {{.name = "source 1"}, {.name = "node 2"}};
    report.network.lanes = {{.from = 0, .to = 1}};
    report.nodes = {
        {.name = "source 1", .counters = {.tasks_out = done + 3, .steps = {}, .own = {}}},
        {.name = "node 2", .counters = {.tasks_in = done, .steps = {}, .own = {}}}};
    report.seconds = seconds;
    return report;
}

TEST(Progress, ShowsTasksAndTheRateOfLate) {
    EXPECT_EQ(progress_line({}, report_of(1'234'567, 0.5)),
              "1,234,567 tasks  2.47 M tasks/s  0:01");
    EXPECT_EQ(progress_line(report_of(1'000, 62), report_of(1'150, 64)),
              "1,150 tasks  75 tasks/s  1:04");
    EXPECT_EQ(progress_line({}, report_of(1, 1)), "1 task  1 tasks/s  0:01");
    EXPECT_EQ(progress_line({}, {}), "0 tasks  0 tasks/s  0:00");
}

TEST(Progress, IsShownOnATerminal) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(terminal, 0);
    ASSERT_EQ(::grantpt(terminal), 0);
    ASSERT_EQ(::unlockpt(terminal), 0);
    const int other_side = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
    ASSERT_GE(other_side, 0);
    {
        const StandardError shown(other_side);
        run_for_a_while({.execution = {.workers = 2}, .show_progress = true});
    }
    const std::string text = read_all(terminal);
    // Each line replaces the one before it, and the last leaves nothing behind.
    EXPECT_THAT(text, HasSubstr("\r\x1b[K"));
    EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;
    EXPECT_THAT(text,
                MatchesRegex("(.|\r)*[1-9][0-9]* tasks  [1-9][0-9.]* tasks/s  0:0[0-9](.|\r)*"));
    ::close(other_side);
    ::close(terminal);
}

TEST(Progress, IsNotShownWhereThereIsNoTerminal) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    {
        const StandardError shown(pipe[1]);
        run_for_a_while({.execution = {.workers = 2}, .show_progress = true});
    }
    ::close(pipe[1]);
    EXPECT_EQ(read_all(pipe[0]), "");
    ::close(pipe[0]);
}

/// Without a function of the program's the watchdog says it there.
TEST(Progress, TheWatchdogReportsOnStandardErrorWhatStandsStill) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    {
        const StandardError shown(pipe[1]);
        run(pipeline(numbers(1),
                     named("sleeps", [](std::uint64_t) { std::this_thread::sleep_for(500ms); })),
            {.execution = {.workers = 2, .watchdog = 100ms}});
    }
    ::close(pipe[1]);
    EXPECT_THAT(read_all(pipe[0]), testing::StartsWith("strid: no progress for 0.1 s: sleeps 2\n"));
    ::close(pipe[0]);
}

}  // namespace
}  // namespace strid
