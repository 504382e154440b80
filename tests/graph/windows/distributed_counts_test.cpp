// SPDX-License-Identifier: Apache-2.0
//
// Windows of counts whose work is shared otherwise than by key (papers 1 and 2: parallel, paned,
// map-reduce) against the obvious computation: of groups and of the whole stream, in every mode.
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;

/// A checksum of a stream of values that depends on their order.
struct InSequence {
    struct State {
        std::uint64_t value = 0;
        std::uint64_t shift = 1;
    };
    [[nodiscard]] State identity() const { return {}; }
    [[nodiscard]] State lift(const Event& event) const {
        return {static_cast<std::uint64_t>(event.value), 1'000'003};
    }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        return {older.value * newer.shift + newer.value, older.shift * newer.shift};
    }
    [[nodiscard]] std::uint64_t lower(const State& state) const { return state.value; }
};

std::uint64_t in_sequence(const std::vector<Event>& records) {
    std::uint64_t value = 0;
    for (const Event& record : records) {
        value = value * 1'000'003 + static_cast<std::uint64_t>(record.value);
    }
    return value;
}

/// Positions of each key, shared by replicas: every window at its place, in order, those too that
/// the end cuts short. `value_of(records)` is what the aggregate has to say of a window.
template <class A, class ValueOf, class Share>
void positions_agree(const A& aggregate, const ValueOf& value_of, const Share& share) {
    for (const auto& [length, slide] : {std::pair{10U, 1U}, {10, 4}, {10, 10}, {10, 13}, {12, 6}}) {
        const auto windows = CountWindows::sliding(length, slide);
        for (const std::uint64_t seed : test::seeds(8)) {
            const auto events = random_events(seed, {}, 700);
            std::map<std::uint32_t, std::vector<Event>> of_key;
            for (const Event& event : events) of_key[event.key].push_back(event);
            const auto results = whole_stream(events, run_options(seed), [&](auto&& stream) {
                return share(std::move(stream).template key_by<&Event::key>(), windows, aggregate);
            });
            std::map<std::uint32_t, std::uint64_t> next;
            for (const auto& result : results) {
                const auto& own = of_key.at(result.key);
                auto& start = next.try_emplace(result.key, 0).first->second;
                ASSERT_EQ(result.window.start, start) << "seed " << seed;
                const auto end = std::min<std::uint64_t>(
                    result.window.start + static_cast<std::uint64_t>(length), own.size());
                ASSERT_EQ(result.window.end, end) << "seed " << seed;
                const auto at = own.begin() + static_cast<std::ptrdiff_t>(start);
                const std::vector<Event> records(at,
                                                 own.begin() + static_cast<std::ptrdiff_t>(end));
                ASSERT_EQ(result.value, value_of(records)) << "seed " << seed;
                start += static_cast<std::uint64_t>(slide);
            }
            const auto step = static_cast<std::uint64_t>(slide);
            for (const auto& [key, own] : of_key) {
                ASSERT_EQ(next[key], (own.size() + step - 1) / step * step) << "seed " << seed;
            }
        }
    }
}

TEST(WindowsOfTheWholeStream, OfCountsAreInTheOrderOfTheirPositions) {
    positions_agree(InSequence{}, in_sequence,
                    [](auto stream, const CountWindows& windows, auto aggregate) {
                        return std::move(stream).window(windows, aggregate, share::automatic);
                    });
}

TEST(ParallelWindows, OfCountsAreInTheOrderOfTheirPositions) {
    positions_agree(
        InSequence{}, in_sequence, [](auto stream, const CountWindows& windows, auto aggregate) {
            return std::move(stream).window(windows, aggregate, share::farmed, {.parallelism = 3});
        });
}

TEST(PanedWindows, OfCountsAreInTheOrderOfTheirPositions) {
    positions_agree(
        InSequence{}, in_sequence, [](auto stream, const CountWindows& windows, auto aggregate) {
            return std::move(stream).window(windows, aggregate, share::paned, {.parallelism = 3});
        });
}

TEST(MapReduceWindows, OfCountsAreInTheOrderOfTheirPositions) {
    positions_agree(sum, sum_of, [](auto stream, const CountWindows& windows, auto aggregate) {
        return std::move(stream).window(windows, aggregate, share::map_reduce, {.parallelism = 3});
    });
}

/// The windows that the end cuts short are not asked for.
TEST(DistributedWindows, OfCountsLeaveOpenOnesOut) {
    const auto windows = CountWindows::sliding(10, 4);
    const auto events = random_events(5, {}, 700);
    std::map<std::uint32_t, std::uint64_t> count_of;
    for (const Event& event : events) ++count_of[event.key];
    std::uint64_t whole = 0;
    for (const auto& [key, count] : count_of) whole += count < 10 ? 0 : (count - 10) / 4 + 1;
    const WindowOptions dropping{.parallelism = 2, .at_end = OpenWindows::drop};
    const auto fired = [&](const auto& share) {
        return whole_stream(events, run_options(2),
                            [&](auto&& stream) {
                                return share(std::move(stream).template key_by<&Event::key>());
                            })
            .size();
    };
    EXPECT_EQ(fired([&](auto stream) {
                  return std::move(stream).window(windows, sum, share::farmed, dropping);
              }),
              whole);
    EXPECT_EQ(fired([&](auto stream) {
                  return std::move(stream).window(windows, sum, share::paned, dropping);
              }),
              whole);
    EXPECT_EQ(fired([&](auto stream) {
                  return std::move(stream).window(windows, sum, share::map_reduce, dropping);
              }),
              whole);
}

/// A window may have no value or several: they stay together and in the order of their windows.
TEST(ParallelWindows, OfFunctionsWithAnyNumberOfValuesAreInOrder) {
    const auto values = window::process<Event, std::int64_t>(
        [](std::uint32_t, const window::CountBounds& bounds, std::span<const Event> records,
           Emitter<std::int64_t>& emit) {
            for (std::uint64_t i = 0; i != bounds.start / 4 % 3; ++i) emit(records[i].value);
        });
    const auto windows = CountWindows::sliding(10, 4);
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {}, 700);
        std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::int64_t>>> expected;
        std::map<std::uint32_t, std::vector<Event>> of_key;
        for (const Event& event : events) of_key[event.key].push_back(event);
        for (const auto& [key, own] : of_key) {
            for (std::uint64_t start = 0; start + 10 <= own.size(); start += 4) {
                for (std::uint64_t i = 0; i != start / 4 % 3; ++i) {
                    expected[key].emplace_back(start, own[start + i].value);
                }
            }
        }
        decltype(expected) found;
        const auto results = whole_stream(events, run_options(seed), [&](auto&& stream) {
            return std::move(stream).template key_by<&Event::key>().window(
                windows, values, share::automatic, {.parallelism = 3, .at_end = OpenWindows::drop});
        });
        for (const auto& result : results) {
            found[result.key].emplace_back(result.window.start, result.value);
        }
        ASSERT_EQ(found, expected) << "seed " << seed;
    }
}

/// An aggregate that nothing can be derived from.
struct Final final {
    using State = std::int64_t;
    [[nodiscard]] State identity() const { return 0; }
    [[nodiscard]] State lift(const Event& event) const { return event.value; }
    [[nodiscard]] State combine(State older, State newer) const { return older + newer; }
    [[nodiscard]] State lower(State state) const { return state; }
};

TEST(WindowsOfTheWholeStream, TakeFinalAggregates) {
    positions_agree(Final{}, sum_of, [](auto stream, const CountWindows& windows, auto aggregate) {
        return std::move(stream).window(windows, aggregate, {.parallelism = 3});
    });
}

/// A number of records that is never reached does not keep the windows from being shared.
TEST(ParallelWindows, OfMoreRecordsThanThereAre) {
    const auto events = random_events(3, {}, 700);
    std::map<std::uint32_t, std::uint64_t> count_of;
    for (const Event& event : events) ++count_of[event.key];
    const auto results = whole_stream(events, run_options(1), [&](auto&& stream) {
        return std::move(stream).template key_by<&Event::key>().window(
            CountWindows::tumbling(std::uint64_t{1} << 63), window::count(), share::farmed,
            {.parallelism = 3});
    });
    ASSERT_EQ(results.size(), count_of.size());
    for (const auto& result : results) {
        EXPECT_EQ(result.value, count_of.at(result.key));
        EXPECT_EQ(result.window.end, count_of.at(result.key));
    }
}

/// The operator that gives positions and the one that restores the order have one replica each.
TEST(ParallelWindows, HaveHelpersOfOneReplica) {
    for (const std::string helper : {"w-hash", "w-collector"}) {
        Graph graph{"helpers"};
        graph.source(replay(std::vector<Event>{}))
            .key_by<&Event::key>()
            .window(CountWindows::tumbling(10), sum, share::farmed, {.name = "w"})
            .sink([](const auto&) {});
        RunOptions options;
        options.operator_parallelism[helper] = 1;
        EXPECT_NO_THROW(static_cast<void>(graph.explain(options))) << helper;
        options.operator_parallelism[helper] = 2;
        try {
            run(graph, options);
            FAIL() << helper;
        } catch (const GraphError& error) {
            EXPECT_EQ(std::string(error.what()),
                      "operator '" + helper +
                          "' has to see the whole stream and cannot have parallelism 2");
        }
    }
}

}  // namespace
}  // namespace strid
