// SPDX-License-Identifier: Apache-2.0
//
// Runs that crash at any call of any operator, of the store or of the result, and go on from their
// last snapshot until they end, in the simulation: the result is that of a run that was never
// disturbed, and has its name once. The graphs that go on have other numbers of replicas, and some
// operators more or less.
#include "crash.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <strid/operator/deduplicate.hpp>
#include <strid/operator/time_order.hpp>
#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/timers.hpp>

#include "../../support/seeds.hpp"

namespace strid::test {
namespace {

using namespace window;

std::string text_of(const Number& one) {
    return std::to_string(one.key) + " " + std::to_string(one.source) + " " +
           std::to_string(one.number);
}
template <class K, class V, class Bounds>
std::string text_of(const WindowResult<K, V, Bounds>& one) {
    std::ostringstream text;
    text << one.key << " ";
    if constexpr (requires { one.window.end.ns(); }) {
        text << one.window.start.ns() << " " << one.window.end.ns();
    } else {
        text << one.window.start << " " << one.window.end;
    }
    text << " " << one.value;
    return text.str();
}
template <class V>
std::string text_of(const Keyed<std::uint32_t, V>& one) {
    return std::to_string(one.key) + " " + std::to_string(one.value);
}
std::string text_of(const std::pair<std::int64_t, std::int64_t>& one) {
    return std::to_string(one.first) + " " + std::to_string(one.second);
}

template <class T>
std::string row_of(const T& one) {
    return text_of(one);
}

constexpr auto number_of = [](const Number& one) { return one.number; };

/// A row when a key has been silent, with how many records it had before. Records come in the order
/// of time, and before the watermark that would fire a timer, or behind it.
struct Silence {
    static constexpr FunctionTraits traits{.hears = events<>};
    void operator()(const Number& one, Timers& timers, auto& emit) {
        if (last) timers.cancel(*last);
        if (last && *last <= one.time) {
            emit(std::pair{last->ns() * 100 + key, records});
            records = 0;
        }
        ++records;
        key = one.key;
        last = one.time + Duration{90};
        timers.at(*last);
    }
    void on_timer(EventTime time, Timers& timers, auto& emit) {
        emit(std::pair{time.ns() * 100 + key, records});
        timers.forget_key();
    }
    auto state() { return std::tie(records, key, last); }
    std::int64_t records = 0;
    std::int64_t key = 0;
    std::optional<EventTime> last;
};

/// An operator with a state that comes into a graph and leaves it again.
struct Counting {
    static constexpr FunctionTraits traits{.hears = events<>};
    Number operator()(const Number& one) {
        ++records;
        return one;
    }
    auto state() { return std::tie(records); }
    std::uint64_t records = 0;
};

class Case {
  public:
    /// `process`: of the runs of a graph, each of which has other numbers of replicas where a state
    /// is by key, or there is none, and some operators that change no row.
    Case(std::uint64_t seed, std::shared_ptr<World> world, std::uint64_t process = 0)
        : random_(seed),
          random_replicas_(seed + process),
          world_(std::move(world)),
          file_(std::make_shared<FileInWorld>(world_)) {}

  private:
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    /// The state of a source is not by key.
    [[nodiscard]] std::size_t replicas_of_source() { return 1 + below(3); }
    [[nodiscard]] std::size_t replicas() { return 1 + random_replicas_() % 3; }

    auto numbers(Graph& graph, std::uint32_t source, std::size_t parallelism) {
        return graph.source(
            NumbersInWorld(world_, source, static_cast<std::int64_t>(count_), keys_),
            {.name = "numbers-" + std::to_string(source), .parallelism = parallelism});
    }
    template <class Numbers>
    static auto timed(Numbers numbers, std::uint32_t source) {
        return std::move(numbers).template event_time<&Number::time>(
            BoundedDisorder{Duration{60 + 30}}, {.name = "time-" + std::to_string(source)});
    }
    auto timed(Graph& graph, std::uint32_t source) {
        return timed(numbers(graph, source, replicas_of_source()), source);
    }
    /// With an operator that is not in each run.
    TimedStream<Number, &Number::time> timed_and_changed(Graph& graph, std::uint32_t source) {
        auto stream = numbers(graph, source, replicas_of_source());
        const auto kind = random_replicas_() % 3;
        if (kind == 0) return timed(std::move(stream), source);
        if (kind == 1) return timed(std::move(stream).map(Passing<Number>{world_}), source);
        return timed(
            std::move(stream).map(Counting{}, {.name = "counting-" + std::to_string(source)}),
            source);
    }
    template <class Stream>
    Graph finish(Graph graph, Stream stream) {
        using T = typename Stream::record_type;
        if (random_replicas_() % 3 == 0) {
            return write<T>(std::move(graph), std::move(stream).map(Passing<T>{world_}));
        }
        return write<T>(std::move(graph), std::move(stream));
    }
    template <class T, class Stream>
    Graph write(Graph graph, Stream stream) {
        // With as many replicas as the operator before it, it is fused with that one.
        std::move(stream).sink(WriteInWorld<T>(world_, file_, &row_of<T>),
                               {.parallelism = random_replicas_() % 2 == 0 ? 0 : replicas()});
        return graph;
    }

    template <class Windows>
    Graph windows(Graph graph, Windows windows) {
        auto stream = timed_and_changed(graph, 0).key_by<&Number::key>().window(
            windows, sum(number_of), {.name = "windows", .parallelism = replicas()});
        return finish(std::move(graph), std::move(stream));
    }
    Graph sessions(Graph graph) {
        auto stream = timed_and_changed(graph, 0).key_by<&Number::key>().window(
            SessionWindows::with_gap(Duration{35}), maximum(number_of),
            {.name = "sessions", .parallelism = replicas()});
        return finish(std::move(graph), std::move(stream));
    }
    Graph counts(Graph graph) {
        auto stream = numbers(graph, 0, 1)
                          .template key_by<&Number::key>()
                          .window(CountWindows::sliding(6, 2), sum(number_of),
                                  {.name = "counts", .parallelism = replicas()});
        return finish(std::move(graph), std::move(stream));
    }
    Graph timers(Graph graph) {
        auto stream = timed(graph, 0)
                          .apply(in_order_of_time(number_of), {.name = "order"})
                          .template key_by<&Number::key>()
                          .template process<std::pair<std::int64_t, std::int64_t>>(
                              Silence{}, {.name = "silence", .parallelism = replicas()});
        return finish(std::move(graph), std::move(stream));
    }
    Graph sums(Graph graph) {
        auto stream =
            numbers(graph, 0, 1)
                .template key_by<&Number::key>()
                .accumulate(std::int64_t{0},
                            [](std::int64_t& sum, const Number& one) { sum += one.number; },
                            Emit::every_update, {.name = "sums", .parallelism = replicas()});
        return finish(std::move(graph), std::move(stream));
    }
    Graph join(Graph graph) {
        auto left = timed_and_changed(graph, 0);
        auto right = timed_and_changed(graph, 1);
        auto stream = std::move(left).join(std::move(right), on<&Number::key, &Number::key>(),
                                           within(Duration{-20}, Duration{20}),
                                           [](const Number& one, const Number& other) {
                                               return std::pair{one.number, other.number};
                                           },
                                           {.name = "pairs", .parallelism = replicas()});
        return finish(std::move(graph), std::move(stream));
    }
    Graph together(Graph graph) {
        auto left = timed_and_changed(graph, 0);
        auto right = timed_and_changed(graph, 1);
        auto stream = std::move(left)
                          .merge(std::move(right))
                          .key_by<&Number::key>()
                          .window(TimeWindows::tumbling(Duration{70}), count(),
                                  {.name = "windows", .parallelism = replicas()});
        return finish(std::move(graph), std::move(stream));
    }
    Graph ordered(Graph graph) {
        auto stream = numbers(graph, 0, 1)
                          .rebalance()
                          .map(Passing<Number>{world_}, {.parallelism = replicas()})
                          .ordered()
                          .map(Passing<Number>{world_});
        return finish(std::move(graph), std::move(stream));
    }
    /// Each replica of an ordered section stamps its records.
    Graph stamped_in_order(Graph graph) {
        auto stream = numbers(graph, 0, 1)
                          .rebalance()
                          .map(Passing<Number>{world_}, {.parallelism = replicas()})
                          .template event_time<&Number::time>(BoundedDisorder{Duration{60 + 30}},
                                                              {.name = "time"})
                          .ordered()
                          .apply(in_order_of_time(number_of), {.name = "order"});
        return finish(std::move(graph), std::move(stream));
    }
    /// A section is ordered, or not, because it has one replica.
    Graph timed_in_order(Graph graph) {
        auto stream = numbers(graph, 0, 1)
                          .template event_time<&Number::time>(BoundedDisorder{Duration{60 + 30}},
                                                              {.name = "time"})
                          .rebalance()
                          .map(Passing<Number>{world_}, {.parallelism = replicas()})
                          .ordered()
                          .apply(in_order_of_time(number_of), {.name = "order"});
        return finish(std::move(graph), std::move(stream));
    }
    /// A state that is not by key, and whose rows do not depend on the replica that got a record.
    Graph partial_sums(Graph graph) {
        auto stream =
            numbers(graph, 0, 1)
                .rebalance()
                .apply(PartialSum{world_}, {.name = "partial-sums", .parallelism = replicas()})
                .key_by([](std::int64_t) { return std::uint32_t{7}; })
                .accumulate(std::int64_t{0},
                            [](std::int64_t& sum, std::int64_t part) { sum += part; }, Emit::at_end,
                            {.name = "sum", .parallelism = replicas()});
        return finish(std::move(graph), std::move(stream));
    }
    Graph deduplicated(Graph graph) {
        auto stream = timed(graph, 0)
                          .apply(in_order_of_time(number_of), {.name = "order"})
                          .template key_by<&Number::key>()
                          .apply(deduplicate(Duration{55}),
                                 {.name = "deduplicate", .parallelism = replicas()});
        return finish(std::move(graph), std::move(stream));
    }

  public:
    /// A graph of the seed.
    [[nodiscard]] Graph graph() {
        Graph graph("crash");
        count_ = 20 + below(60);
        keys_ = 1 + static_cast<std::uint32_t>(below(8));
        switch (below(14)) {
            case 0:
                return finish(std::move(graph),
                              timed(graph, 0)
                                  .map(Passing<Number>{world_})
                                  .map(Passing<Number>{world_}, {.parallelism = replicas()}));
            case 1:
                return windows(std::move(graph), TimeWindows::tumbling(Duration{70}));
            case 2:
                return windows(std::move(graph), TimeWindows::sliding(Duration{120}, Duration{40}));
            case 3:
                return sessions(std::move(graph));
            case 4:
                return counts(std::move(graph));
            case 5:
                return timers(std::move(graph));
            case 6:
                return sums(std::move(graph));
            case 7:
                return join(std::move(graph));
            case 8:
                return together(std::move(graph));
            case 9:
                return ordered(std::move(graph));
            case 10:
                return stamped_in_order(std::move(graph));
            case 11:
                return timed_in_order(std::move(graph));
            case 12:
                return partial_sums(std::move(graph));
            default:
                return deduplicated(std::move(graph));
        }
    }

  private:
    std::mt19937_64 random_;
    std::mt19937_64 random_replicas_;
    std::shared_ptr<World> world_;
    std::shared_ptr<FileInWorld> file_;
    std::uint64_t count_ = 0;
    std::uint32_t keys_ = 1;
};

std::vector<std::string> rows_of(const std::string& text) {
    std::vector<std::string> rows;
    std::istringstream lines(text);
    for (std::string row; std::getline(lines, row);) rows.push_back(row);
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// The rows of one that the other has not, or has fewer times.
std::string difference(const std::vector<std::string>& rows,
                       const std::vector<std::string>& expected) {
    std::string text;
    std::vector<std::string> found;
    std::set_difference(rows.begin(), rows.end(), expected.begin(), expected.end(),
                        std::back_inserter(found));
    for (const std::string& row : found) text += "too many: " + row + "\n";
    found.clear();
    std::set_difference(expected.begin(), expected.end(), rows.begin(), rows.end(),
                        std::back_inserter(found));
    for (const std::string& row : found) text += "missing: " + row + "\n";
    return text;
}

RunOptions simulated(std::uint64_t seed) {
    return {.mode = RunOptions::Mode::simulation, .seed = seed};
}

std::vector<std::string> undisturbed(std::uint64_t seed) {
    const auto world = std::make_shared<World>();
    Case one{seed, world};
    const Graph graph = one.graph();
    (void)run(graph, simulated(seed));
    return rows_of(world->result);
}

/// Crashes up to six times. Returns how often it did.
int disturbed(std::uint64_t seed, World& world, const std::shared_ptr<World>& shared) {
    std::mt19937_64 random(seed ^ 0x5eedU);
    for (int crashes = 0;; ++crashes) {
        world.begin_process(crashes < 6 ? 1 + random() % 250 : 0);
        try {
            Case one{seed, shared, static_cast<std::uint64_t>(crashes)};
            const Graph graph = one.graph();
            RunOptions options = simulated(seed + static_cast<std::uint64_t>(crashes) * 7919);
            options.snapshots.store = std::make_shared<StoreInWorld>(shared);
            options.snapshots.allow_lost = true;
            (void)run(graph, options);
            if (!world.is_over()) return crashes;
        } catch (const GraphError& error) {
            // It has crashed behind its very end, and is finished.
            EXPECT_NE(std::string(error.what()).find("has reached its end"), std::string::npos)
                << error.what();
            return crashes;
        } catch (const Error& error) {
            EXPECT_TRUE(world.is_over()) << "seed " << seed << ": " << error.what();
            if (!world.is_over()) return crashes;
        } catch (const Crash&) {
        }
    }
}

TEST(Snapshots, CrashesAnywhereLeaveNoTrace) {
    int crashes = 0;
    for (const std::uint64_t seed : seeds(2'000)) {
        const auto expected = undisturbed(seed);
        const auto world = std::make_shared<World>();
        crashes += disturbed(seed, *world, world);
        ASSERT_EQ(difference(rows_of(world->result), expected), "") << "seed " << seed;
        ASSERT_GE(world->commits, 1U);
    }
    std::printf("%d crashes\n", crashes);
    EXPECT_GT(crashes, 1'500);
}

}  // namespace
}  // namespace strid::test
