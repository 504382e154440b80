// SPDX-License-Identifier: Apache-2.0
//
// Runs with state by key that is partly in a store. They crash at any call of an operator, of the
// store of states, of that of snapshots or of the result, in the simulation, and go on with other
// numbers of replicas. The checkpoints outlive the crash; those that no snapshot names are removed.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/operator/stored_keys.hpp>
#include <strid/strid.hpp>
#include <strid/window/stored_process.hpp>
#include <strid/window/timers.hpp>

#include "../../support/memory_stores.hpp"
#include "../../support/seeds.hpp"
#include "crash.hpp"

namespace strid::test {
namespace {

/// The numbers that a key had, as a state that grows.
struct History {
    static constexpr FunctionTraits traits{.hears = events<>};
    Number operator()(const Number& one) {
        numbers.push_back(one.number);
        std::int64_t sum = 0;
        for (const std::int64_t number : numbers) sum += number;
        return {one.key, one.source, sum, one.time};
    }
    auto state() { return std::tie(numbers); }
    std::vector<std::int64_t> numbers;
};

/// Gives the count of a key at the end of the stream, and its numbers so far before that.
struct AtTheEnd {
    static constexpr FunctionTraits traits{.hears = events<>};
    void operator()(const Number& one, Timers& timers, auto& emit) {
        if (records == 0) timers.at(EventTime::of_ns(1'000'000 + one.key));
        ++records;
        sum += one.number;
        last = one;
        emit(Number{one.key, one.source, sum, one.time});
    }
    void on_timer(EventTime, Timers& timers, auto& emit) {
        emit(Number{last.key, 1'000, records, last.time});
        if (last.key % 2 == 0) timers.forget_key();
    }
    auto state() { return std::tie(records, sum, last); }
    std::int64_t records = 0;
    std::int64_t sum = 0;
    Number last;
};

std::string text_of(const Number& one) {
    return std::to_string(one.key) + " " + std::to_string(one.source) + " " +
           std::to_string(one.number);
}

Graph graph_of(std::uint64_t seed, std::uint64_t process, const std::shared_ptr<World>& world,
               const std::shared_ptr<MemoryStores>& stores) {
    std::mt19937_64 random(seed);
    const std::int64_t count = 40 + static_cast<std::int64_t>(random() % 80);
    const auto keys = static_cast<std::uint32_t>(1 + random() % 30);
    const std::size_t bound = 1 + random() % 2'000;
    const bool has_timers = random() % 2 == 0;
    std::mt19937_64 of_process(seed + process);
    const auto replicas = [&] { return 1 + of_process() % 3; };
    Graph graph{"stored"};
    auto keyed =
        graph.source(NumbersInWorld(world, 0, count, keys), {.name = "numbers", .parallelism = 1})
            .event_time<&Number::time>(BoundedDisorder{Duration{60}}, {.name = "time"})
            .map(Passing<Number>{world}, {.name = "pass"})
            .key_by<&Number::key>(keep_in_memory(bound, stores));
    const OperatorOptions options{.name = "states", .parallelism = replicas()};
    const auto file = std::make_shared<FileInWorld>(world);
    const auto end = [&](auto stream) {
        std::move(stream).sink(WriteInWorld<Number>(world, file, text_of), {.name = "write"});
    };
    if (has_timers) {
        end(std::move(keyed).process<Number>(AtTheEnd{}, options));
    } else {
        end(std::move(keyed).map(History{}, options));
    }
    return graph;
}

RunOptions simulated(std::uint64_t seed) {
    return {.mode = RunOptions::Mode::simulation, .seed = seed};
}

std::string undisturbed(std::uint64_t seed) {
    const auto world = std::make_shared<World>();
    const Graph graph = graph_of(seed, 0, world, std::make_shared<MemoryStores>());
    (void)run(graph, simulated(seed));
    return sorted_rows(world->result);
}

struct Events {
    int crashes = 0;
    int given_up = 0;     // snapshots, for a checkpoint that could not be made
    int passed_over = 0;  // snapshots, for a checkpoint that was lost
};

/// Behind a crash: those of the last snapshot, or of all of its chain. The one before that is there
/// then, to fall back to.
void maybe_lose_checkpoint(World& world, MemoryStores& stores, std::mt19937_64& random) {
    const auto& all = world.snapshots;
    if (all.size() < 2 || random() % 3 != 0) return;
    std::size_t first = all.size() - 1;
    if (random() % 2 == 0) {
        while (first != 0 && all[first].description.builds_on != 0) --first;
    }
    if (first == 0) return;
    const SnapshotDescription& older = all[first - 1].description;
    for (const SnapshotCheckpoint& one : older.checkpoints) {
        const std::string fault = stores.fault_of(one, older.number);
        if (all[first].description.builds_on == 0) {
            ASSERT_EQ(fault, "");
        }
        if (!fault.empty()) return;  // it was lost before
    }
    for (std::size_t i = first; i != all.size(); ++i) stores.lose(all[i].description.number);
}

/// True: the run has reached its end.
bool run_once(std::uint64_t seed, int process, const std::shared_ptr<World>& world,
              const std::shared_ptr<MemoryStores>& stores, Events& events) {
    const Graph graph = graph_of(seed, static_cast<std::uint64_t>(process), world, stores);
    RunOptions options = simulated(seed + static_cast<std::uint64_t>(process) * 7919);
    options.snapshots.store = std::make_shared<StoreInWorld>(world, seed % 4);
    options.on_warning = [&events](const std::string& text) {
        if (text == "a snapshot could not be stored: operator 'states': no room") ++events.given_up;
        if (text == "operator 'states': there is no such checkpoint") ++events.passed_over;
    };
    (void)run(graph, options);
    return !world->is_over();
}

void disturbed(std::uint64_t seed, const std::shared_ptr<World>& world, Events& events) {
    const auto stores = std::make_shared<MemoryStores>();
    std::mt19937_64 random(seed ^ 0x5eedU);
    stores->before_each = [world] { world->call(); };
    stores->before_checkpoint = [&random] {
        if (random() % 8 == 0) throw InputOutputError("no room");
    };
    for (int process = 0;; ++process) {
        world->begin_process(process < 6 ? 1 + random() % 250 : 0);
        try {
            if (run_once(seed, process, world, stores, events)) {
                EXPECT_THAT(stores->checkpoints(), testing::IsEmpty());
                return;
            }
        } catch (const GraphError& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr("has reached its end"));
            return;
        } catch (const Error& error) {
            EXPECT_TRUE(world->is_over()) << "seed " << seed << ": " << error.what();
            if (!world->is_over()) return;
        } catch (const Crash&) {
        }
        ++events.crashes;
        // Of two snapshots and of one to fall back to, of one that was not stored, and of one that
        // is to be removed.
        EXPECT_LE(stores->checkpoints().size(), 6U);
        maybe_lose_checkpoint(*world, *stores, random);
    }
}

TEST(StoredKeys, CrashesAnywhereLeaveNoTrace) {
    Events events;
    for (const std::uint64_t seed : seeds(500)) {
        const auto world = std::make_shared<World>();
        disturbed(seed, world, events);
        ASSERT_EQ(sorted_rows(world->result), undisturbed(seed)) << "seed " << seed;
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    }
    std::printf("%d crashes, %d snapshots given up, %d passed over\n", events.crashes,
                events.given_up, events.passed_over);
    EXPECT_GT(events.crashes, 400);
    EXPECT_GT(events.given_up, 100);
    EXPECT_GT(events.passed_over, 50);
}

}  // namespace
}  // namespace strid::test
