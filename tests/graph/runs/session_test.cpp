// SPDX-License-Identifier: Apache-2.0
//
// A run with options from a command line: exit codes, errors, signals that drain and cancel, and
// handlers that are there only while the run is.
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <strid/connector/replay.hpp>
#include <strid/program/main.hpp>
#include <strid/program/session.hpp>

#include "../test_sources.hpp"

namespace strid {
namespace {

using test::Numbers;

/// Never ends; counts what it emitted.
struct Endless {
    using record_type = std::uint64_t;
    static constexpr SourceTraits traits{.hears = events<>};
    std::uint64_t next = 0;

    template <class EmitRecord>
    SourceStatus poll(EmitRecord& emit, std::size_t budget) {
        while (budget-- != 0 && emit(std::uint64_t{next++})) {
        }
        return SourceStatus::more;
    }
    auto state() { return std::tie(next); }
};

/// Drains for ever: only a cancel ends it. Says when it is stopped.
struct Undrained : Endless {
    static constexpr SourceTraits traits{.hears = events<Stopped>, .drains = true};
    std::shared_ptr<std::atomic<bool>> stopped = std::make_shared<std::atomic<bool>>(false);
    void on(Stopped) noexcept { *stopped = true; }
};

/// Sends the process a signal when the condition holds.
class SignalWhen {
  public:
    /// Signal 0 does nothing but make the thread sanitizer (GCC 12) set up what it keeps of this
    /// thread's signals. Otherwise the thread's first wait does, and a signal that comes while it
    /// does is lost.
    SignalWhen(int signal, std::function<bool()> condition) {
        ::kill(::getpid(), 0);
        thread_ = std::thread([signal, condition = std::move(condition)] {
            while (!condition()) std::this_thread::yield();
            ::kill(::getpid(), signal);
        });
    }
    ~SignalWhen() { thread_.join(); }
    SignalWhen(const SignalWhen&) = delete;
    SignalWhen& operator=(const SignalWhen&) = delete;

  private:
    std::thread thread_;
};

/// Gives a record now and then, and never ends: the recording for a replay never ends.
struct Trickle {
    using record_type = std::uint64_t;
    static constexpr SourceTraits traits{.hears = events<>, .stateless = true};
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
    const SignalWhen reading{SIGINT, [&trickle] { return trickle.given->load() != 0; }};
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_session(graph, {}), 128 + SIGINT);
    const std::string output = testing::internal::GetCapturedStderr();
    EXPECT_NE(output.find("session: stopped and drained"), std::string::npos) << output;
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
        const SignalWhen taking{signal, [&taken] { return taken != 0; }};
        testing::internal::CaptureStderr();
        EXPECT_EQ(
            run_session(graph, {}, {.when_done = [&report](const RunReport& r) { report = r; }}),
            128 + signal);
        const std::string output = testing::internal::GetCapturedStderr();
        EXPECT_NE(output.find("session: stopped and drained"), std::string::npos) << output;
        EXPECT_EQ(output.find('\r'), std::string::npos) << output;
        EXPECT_GT(report.records_in(), 0U);
        EXPECT_EQ(report.records_in(), report.records_out());
        EXPECT_EQ(report.records_out(), taken);
    }
    struct sigaction after {};
    ::sigaction(SIGINT, nullptr, &after);
    EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(Session, ASecondSignalCancels) {
    const Undrained source;
    std::atomic<std::uint64_t> taken{0};
    Graph graph{"session"};
    graph.source(source).separate().sink([&taken](std::uint64_t) { ++taken; });
    const SignalWhen taking{SIGINT, [&taken] { return taken != 0; }};
    const SignalWhen draining{SIGINT, [&source] { return source.stopped->load(); }};
    testing::internal::CaptureStderr();
    const int code = run_session(graph, {.mode = RunOptions::Mode::dedicated});
    const std::string output = testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, 130);
    EXPECT_NE(output.find("session: cancelled"), std::string::npos) << output;
}

// A run that no step of the engine ends: user code that does not return.
TEST(SessionDeathTest, ASecondSignalEndsTheProcessWhereTheRunDoesNotEnd) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto run_for_ever = [] {
        const Undrained source;
        std::atomic<bool> is_in_sink{false};
        Graph graph{"session"};
        graph.source(source).separate().sink([&is_in_sink](std::uint64_t) {
            is_in_sink = true;
            is_in_sink.wait(true);
        });
        const SignalWhen taking{SIGINT, [&is_in_sink] { return is_in_sink.load(); }};
        const SignalWhen draining{SIGINT, [&source] { return source.stopped->load(); }};
        std::exit(run_session(graph, {}));
    };
    EXPECT_EXIT(run_for_ever(), testing::KilledBySignal(SIGINT), "");
}

TEST(Session, ASigtermThatDrainsIsASuccessWhereThatIsAskedFor) {
    for (const int signal : {SIGTERM, SIGINT}) {
        std::atomic<bool> takes{false};
        Graph graph{"session"};
        graph.source(Endless{}).sink([&takes](std::uint64_t) { takes = true; });
        const SignalWhen taking{signal, [&takes] { return takes.load(); }};
        const int expected = signal == SIGTERM ? 0 : 128 + signal;
        EXPECT_EQ(run_session(graph, {}, {.quiet = true, .zero_on_sigterm = true}), expected);
    }
}

}  // namespace
}  // namespace strid
