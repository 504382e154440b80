// SPDX-License-Identifier: Apache-2.0
//
// Doors end with the run, however it ends, while its `Running` is kept and nothing waits for it: a
// service joins its pushing and popping threads first. And a stop loses nothing that was taken:
// what each thread counted as pushed is what comes out, in its order.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../test_sources.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using test::Collection;

struct Sent {
    std::uint32_t thread;
    std::uint64_t number;
};

/// Threads that push 0, 1, 2, ... each until they are refused.
class Pushers {
  public:
    Pushers(const Inlet<Sent>& inlet, std::uint32_t threads) : accepted_(threads) {
        for (std::uint32_t t = 0; t < threads; ++t) {
            threads_.emplace_back([this, inlet = inlet, t]() mutable { push_all(inlet, t); });
        }
    }
    /// Returns how many records of each thread were taken, by their return values.
    const std::vector<std::uint64_t>& join() {
        for (auto& thread : threads_) thread.join();
        threads_.clear();
        return accepted_;
    }

  private:
    void push_all(Inlet<Sent>& inlet, std::uint32_t thread) {
        std::uint64_t accepted = 0;
        for (; inlet.push(Sent{thread, accepted}); ++accepted) {
            // The result of try_push counts as well, and is no reason to give up.
            if (accepted % 3 == 2 && inlet.try_push(Sent{thread, accepted + 1})) ++accepted;
        }
        accepted_[thread] = accepted;
    }

    std::vector<std::uint64_t> accepted_;
    std::vector<std::thread> threads_;
};

/// The same records came out as went in, thread by thread and in order.
void expect_all(const std::vector<std::uint64_t>& accepted, const std::vector<Sent>& arrived,
                bool in_order) {
    std::vector<std::vector<std::uint64_t>> by_thread(accepted.size());
    for (const Sent& sent : arrived) by_thread.at(sent.thread).push_back(sent.number);
    for (std::size_t t = 0; t < accepted.size(); ++t) {
        auto& numbers = by_thread[t];
        if (!in_order) std::sort(numbers.begin(), numbers.end());
        ASSERT_EQ(numbers.size(), accepted[t]) << "of thread " << t;
        for (std::uint64_t n = 0; n < numbers.size(); ++n) ASSERT_EQ(numbers[n], n);
    }
}

RunOptions some_way(std::mt19937_64& random) {
    const std::vector<test::Way> ways = test::all_ways();
    return ways[random() % ways.size()].options;
}

TEST(StoppedDoors, DeliverWhatTheyTookToAnOutlet) {
    for (const std::uint64_t seed : test::seeds(test::perturbed ? 6 : 24)) {
        SCOPED_TRACE("STRID_SEED=" + std::to_string(seed));
        std::mt19937_64 random{seed};
        const std::size_t capacity = 1 + random() % 64;
        Graph graph{"stopped"};
        auto [inlet, stream] = graph.inlet<Sent>(capacity);
        const bool in_order = random() % 2 == 0;
        auto outlet = in_order ? std::move(stream).separate().outlet(1 + random() % 64)
                               : std::move(stream)
                                     .rebalance()
                                     .map([](const Sent& sent) { return sent; })
                                     .rebalance()
                                     .outlet(1 + random() % 64);
        Running running = start(graph, some_way(random));
        std::vector<Sent> arrived;
        std::thread popper{[&arrived, outlet]() mutable {
            while (auto sent = outlet.pop()) arrived.push_back(*sent);
        }};
        Pushers pushers{inlet, 1 + static_cast<std::uint32_t>(random() % 4)};
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 5000});
        running.stop();
        const auto accepted = pushers.join();
        EXPECT_FALSE(inlet.push(Sent{0, 0})) << "taken after a stop";
        EXPECT_FALSE(inlet.try_push(Sent{0, 0}));
        popper.join();
        expect_all(accepted, arrived, in_order);
        EXPECT_EQ(running.wait().records_out(), arrived.size());
    }
}

TEST(StoppedDoors, DeliverWhatTheyTookToSinks) {
    for (const std::uint64_t seed : test::seeds(test::perturbed ? 6 : 24)) {
        SCOPED_TRACE("STRID_SEED=" + std::to_string(seed));
        std::mt19937_64 random{seed};
        Graph graph{"stopped"};
        auto [inlet, stream] = graph.inlet<Sent>(1 + random() % 2000);
        Collection<Sent> arrived;
        std::move(stream)
            .key_by([](const Sent& sent) { return sent.thread; })
            .sink([&arrived](const Sent& sent) { arrived.add(sent); });
        Running running = start(graph, some_way(random));
        Pushers pushers{inlet, 1 + static_cast<std::uint32_t>(random() % 4)};
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 5000});
        running.stop();
        const auto accepted = pushers.join();
        running.wait();
        expect_all(accepted, arrived.take(), true);
    }
}

// ---- the end of the run, by all its ways --------------------------------------------------------

enum class Way { map_throws, sink_throws, cancel, stop, close };

const std::pair<const char*, Way> ways[] = {{"a map that throws", Way::map_throws},
                                            {"a sink that throws", Way::sink_throws},
                                            {"cancel", Way::cancel},
                                            {"stop", Way::stop},
                                            {"the inlet closed", Way::close}};

/// An inlet that leads to an outlet and to a sink, and how its run is ended.
struct Service {
    explicit Service(Way ending) : way(ending) {
        auto [in, stream] = graph.inlet<std::uint64_t>(4, {.name = "in"});
        inlet.emplace(in);
        auto both = std::move(stream)
                        .map(
                            [ending](const std::uint64_t& n) {
                                if (ending == Way::map_throws && n == 100) throw_it();
                                return n;
                            },
                            {.name = "broken"})
                        .split(2, [](const std::uint64_t&) {
                            return std::array{0, 1};
                        });
        outlet.emplace(both.select(0).outlet(4));
        both.select(1).sink(
            [ending](std::uint64_t n) {
                if (ending == Way::sink_throws && n == 100) throw_it();
            },
            {.name = "broken too"});
    }
    [[noreturn]] static void throw_it() { throw std::runtime_error("the service broke"); }
    /// After so many records that all threads are on their way.
    void end(Running& running) {
        if (way == Way::cancel) running.cancel();
        if (way == Way::stop) running.stop();
        if (way == Way::close) inlet->close();
    }
    [[nodiscard]] bool fails() const { return way == Way::map_throws || way == Way::sink_throws; }
    [[nodiscard]] Outcome outcome() const {
        if (fails()) return Outcome::failed;
        if (way == Way::cancel) return Outcome::cancelled;
        return way == Way::stop ? Outcome::stopped : Outcome::finished;
    }

    Way way;
    Graph graph{"service"};
    std::optional<Inlet<std::uint64_t>> inlet;
    std::optional<Outlet<std::uint64_t>> outlet;
};

RunOptions with_mode(RunOptions::Mode mode, std::function<void(const RunEnd&)> on_end = {}) {
    RunOptions options;
    options.mode = mode;
    options.workers = 2;
    options.on_end = std::move(on_end);
    return options;
}

constexpr RunOptions::Mode modes[] = {RunOptions::Mode::cooperative, RunOptions::Mode::dedicated,
                                      RunOptions::Mode::simulation};

/// Pushes and pops until both are answered that it is over; ends the run in between.
void serve(Service& service, Running& running) {
    std::thread pusher{[&] {
        for (std::uint64_t n = 0; service.inlet->push(n); ++n) {
        }
    }};
    std::thread popper{[&] {
        std::uint64_t popped = 0;
        while (service.outlet->pop()) {
            if (++popped == 150) service.end(running);
        }
    }};
    pusher.join();
    popper.join();
}

TEST(EndedDoors, AnswerThoughTheRunIsKeptAndNothingWaitsForIt) {
    for (const auto& [name, way] : ways) {
        for (const auto mode : modes) {
            SCOPED_TRACE(name + std::string{", mode "} + std::to_string(static_cast<int>(mode)));
            Service service{way};
            Running running = start(service.graph, with_mode(mode));
            serve(service, running);
            EXPECT_TRUE(running.wait_for(100s));
            EXPECT_TRUE(running.finished());
            if (service.fails()) {
                EXPECT_THROW(running.wait(), OperatorError);
            } else {
                EXPECT_NO_THROW(running.wait());
            }
            EXPECT_FALSE(service.inlet->push(1));
            EXPECT_FALSE(service.outlet->pop().has_value());
        }
    }
}

TEST(EndedDoors, AreEndedBeforeTheEndIsReported) {
    for (const auto& [name, way] : ways) {
        for (const auto mode : modes) {
            SCOPED_TRACE(name + std::string{", mode "} + std::to_string(static_cast<int>(mode)));
            Service service{way};
            std::atomic<int> calls{0};
            std::optional<RunEnd> reported;
            const auto on_end = [&](const RunEnd& end) {
                ++calls;
                // Neither waits: a push that finds room would be taken.
                EXPECT_FALSE(service.inlet->push(1));
                while (service.outlet->pop()) {
                }
                reported = end;
            };
            Running running = start(service.graph, with_mode(mode, on_end));
            serve(service, running);
            EXPECT_TRUE(running.wait_for(100s));
            EXPECT_EQ(calls, 1);
            ASSERT_TRUE(reported.has_value());
            EXPECT_EQ(reported->outcome, service.outcome());
            EXPECT_EQ(reported->failure != nullptr, service.fails());
            EXPECT_EQ(reported->report.graph, "service");
            // Records are counted after a poll; those of a poll that fails are not.
            if (!service.fails()) {
                EXPECT_GE(reported->report.records_in(), 150U);
            }
            // The clock of the report stands still since.
            EXPECT_EQ(running.report().seconds, reported->report.seconds);
            if (service.fails()) {
                EXPECT_THROW(std::rethrow_exception(reported->failure), OperatorError);
            }
        }
    }
}

// The deadlock of the issue, from within: the pushers are joined when the run is over.
TEST(EndedDoors, LetThreadsBeJoinedByTheCallback) {
    Service service{Way::map_throws};
    std::thread pusher;
    std::thread popper;
    std::atomic<bool> ready{false};
    const auto on_end = [&](const RunEnd&) {
        while (!ready) std::this_thread::yield();
        pusher.join();
        popper.join();
    };
    Running running = start(service.graph, with_mode(RunOptions::Mode::cooperative, on_end));
    pusher = std::thread{[&] {
        for (std::uint64_t n = 0; service.inlet->push(n); ++n) {
        }
    }};
    popper = std::thread{[&] {
        while (service.outlet->pop()) {
        }
    }};
    ready = true;
    EXPECT_THROW(running.wait(), OperatorError);
    EXPECT_FALSE(pusher.joinable());
}

TEST(EndedDoors, LetAPushFromInsideTheGraphGo) {
    Graph graph{"feedback"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>(1);
    std::atomic<bool> pushing{false};
    std::move(stream).sink([&pushing, inlet = inlet](std::uint64_t n) {
        pushing = true;
        while (inlet.push(n + 1)) {
        }
    });
    Running running = start(graph);
    ASSERT_TRUE(inlet.push(0));
    while (!pushing) std::this_thread::yield();
    running.cancel();  // the step is inside push(), or will be
    EXPECT_TRUE(running.wait_for(100s));
}

TEST(EndedDoors, HoldBackADrainUntilTheRunIsCancelled) {
    Graph graph{"full"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>(1000);
    auto outlet = std::move(stream).outlet(1);
    Running running = start(graph);
    for (std::uint64_t n = 0; n < 100; ++n) ASSERT_TRUE(inlet.push(n));
    running.stop();
    EXPECT_FALSE(running.wait_for(20ms)) << "100 records do not fit into an outlet for one";
    running.cancel();
    EXPECT_TRUE(running.wait_for(100s));
    std::uint64_t expected = 0;
    while (const auto popped = outlet.pop()) EXPECT_EQ(*popped, expected++);
    EXPECT_LT(expected, 100U);
}

TEST(EndedDoors, OfARunThatIsOverDoNotEndTheNext) {
    Graph graph{"again"};
    auto outlet = graph.source(test::Numbers{10}).outlet(4);
    const auto pop_all = [&outlet] {
        std::uint64_t popped = 0;
        while (outlet.pop()) ++popped;
        return popped;
    };
    std::optional<Running> first = start(graph);
    EXPECT_EQ(pop_all(), 10U);
    Running second = start(graph);
    first.reset();
    EXPECT_EQ(pop_all(), 10U);
    second.wait();
}

}  // namespace
}  // namespace strid
