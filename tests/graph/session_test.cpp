// SPDX-License-Identifier: Apache-2.0
//
// A run with options from a command line: exit codes, errors, signals that drain and cancel, and
// handlers that are there only while the run is.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <strid/connector/replay.hpp>
#include <strid/graph/main.hpp>
#include <strid/graph/session.hpp>

#include "../support/perturbed.hpp"
#include "test_sources.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using test::Numbers;

/// Never ends; counts what it emitted.
struct Endless {
    using record_type = std::uint64_t;
    std::uint64_t next = 0;

    template <class EmitRecord>
    SourceStatus poll(EmitRecord& emit, std::size_t budget) {
        while (budget-- != 0 && emit(std::uint64_t{next++})) {
        }
        return SourceStatus::more;
    }
};

/// Sends the process a signal after a while.
class Later {
  public:
    Later(std::chrono::milliseconds wait, int signal, int times)
        : thread_([=] {
              for (int i = 0; i < times; ++i) {
                  std::this_thread::sleep_for(wait);
                  ::kill(::getpid(), signal);
              }
          }) {}
    ~Later() { thread_.join(); }
    Later(const Later&) = delete;
    Later& operator=(const Later&) = delete;

  private:
    std::thread thread_;
};

/// Gives a record now and then, and never ends: what is to be replayed is never read.
struct Trickle {
    using record_type = std::uint64_t;
    std::shared_ptr<std::atomic<std::uint64_t>> given =
        std::make_shared<std::atomic<std::uint64_t>>(0);

    template <class EmitRecord>
    SourceStatus poll(EmitRecord& emit, std::size_t) {
        emit(given->fetch_add(1, std::memory_order_relaxed));
        return SourceStatus::idle;
    }
};

int run_with(const Graph& graph, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "program");
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    return run(graph, static_cast<int>(argv.size()), argv.data());
}

TEST(Session, ARunToTheEndReturnsZeroAndWritesItsMetrics) {
    const std::string path = testing::TempDir() + "strid_session_metrics.json";
    Graph graph{"session"};
    std::atomic<std::uint64_t> taken{0};
    graph.source(Numbers{1000}).sink([&taken](std::uint64_t) { ++taken; });
    EXPECT_EQ(run_with(graph, {"--parallelism", "2", "--metrics", path, "--quiet"}), 0);
    EXPECT_EQ(taken, 1000U);
    std::ifstream file(path);
    const std::string json{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(json.find("\"records_in\":1000,\"records_out\":1000"), std::string::npos) << json;
    ::unlink(path.c_str());
}

TEST(Session, WrongArgumentsReturnTwoAndRunNothing) {
    Graph graph{"session"};
    std::atomic<std::uint64_t> taken{0};
    graph.source(Numbers{10}).sink([&taken](std::uint64_t) { ++taken; });
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"--parallelism", "0"},
                                               {"--parallelism", "10000"},
                                               {"--parallelism", "nobody=2"},
                                               {"--mode", "fast"},
                                               {"--unknown"},
                                               {"positional"}}) {
        EXPECT_EQ(run_with(graph, arguments), 2) << arguments.front();
    }
    EXPECT_EQ(run_with(graph, {"--help"}), 0);
    EXPECT_EQ(taken, 0U);
}

TEST(Session, AFailedRunReturnsOne) {
    Graph graph{"session"};
    graph.source(Numbers{10}).sink([](std::uint64_t) { throw std::runtime_error("no"); });
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_with(graph, {}), 1);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "strid: error: operator 'sink-2': no\n");
}

TEST(Session, ASignalEndsTheReadingOfWhatIsToBeReplayed) {
    const Trickle trickle;
    Graph graph{"session"};
    std::atomic<std::uint64_t> taken{0};
    graph.source(replay(trickle)).sink([&taken](std::uint64_t) { ++taken; });
    const Later later{300ms, SIGINT, 1};
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_session(graph, {}), 128 + SIGINT);
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("session: stopped and drained"), std::string::npos) << told;
    EXPECT_GT(trickle.given->load(), 0U) << "the signal came before the reading began";
    EXPECT_EQ(taken, 0U);
}

TEST(Session, ASignalDrainsAndTheHandlersAreTakenAway) {
    struct sigaction before {};
    ::sigaction(SIGINT, nullptr, &before);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        Graph graph{"session"};
        std::atomic<std::uint64_t> taken{0};
        graph.source(Endless{})
            .key_by([](const std::uint64_t& n) { return n; })
            .sink([&taken](std::uint64_t) { taken.fetch_add(1, std::memory_order_relaxed); });
        RunReport report;
        const Later later{300ms, signal, 1};
        testing::internal::CaptureStderr();
        EXPECT_EQ(
            run_session(graph, {}, {.when_done = [&report](const RunReport& r) { report = r; }}),
            128 + signal);
        const std::string told = testing::internal::GetCapturedStderr();
        EXPECT_NE(told.find("session: stopped and drained"), std::string::npos) << told;
        EXPECT_EQ(told.find('\r'), std::string::npos) << told;
        EXPECT_GT(report.records_in(), 0U);
        EXPECT_EQ(report.records_in(), report.records_out());
        EXPECT_EQ(report.records_out(), taken);
    }
    struct sigaction after {};
    ::sigaction(SIGINT, nullptr, &after);
    EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(Session, ASecondSignalCancels) {
    Graph graph{"session"};
    const auto begin = std::chrono::steady_clock::now();
    // Some batches wait, for a second in all, each for a quarter of one; a perturbed run's have a
    // few records.
    graph.source(Numbers{1'000'000}).separate().sink([](std::uint64_t) {
        std::this_thread::sleep_for(test::perturbed ? 100ms : 1ms);
    });
    const Later later{200ms, SIGINT, 2};
    testing::internal::CaptureStderr();
    const int code = run_session(graph, {.mode = RunOptions::Mode::dedicated, .block_bytes = 2048});
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, 130);
    EXPECT_NE(told.find("session: cancelled"), std::string::npos) << told;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

// What no step of the engine ends: user code that does not return.
TEST(SessionDeathTest, ASecondSignalEndsTheProcessWhereTheRunDoesNotEnd) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto run_for_ever = [] {
        Graph graph{"session"};
        graph.source(Numbers{10}).sink([](std::uint64_t) { std::this_thread::sleep_for(60s); });
        const Later later{200ms, SIGINT, 2};
        std::exit(run_session(graph, {}));
    };
    EXPECT_EXIT(run_for_ever(), testing::KilledBySignal(SIGINT), "");
}

TEST(Session, ASigtermThatDrainsIsASuccessWhereThatIsAskedFor) {
    for (const int signal : {SIGTERM, SIGINT}) {
        Graph graph{"session"};
        graph.source(Endless{}).sink([](std::uint64_t) {});
        const Later later{300ms, signal, 1};
        const int expected = signal == SIGTERM ? 0 : 128 + signal;
        EXPECT_EQ(run_session(graph, {}, {.quiet = true, .zero_on_sigterm = true}), expected);
    }
}

}  // namespace
}  // namespace strid
