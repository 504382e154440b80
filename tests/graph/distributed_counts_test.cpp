// SPDX-License-Identifier: Apache-2.0
//
// Windows of counts whose work is shared otherwise than by key (papers 1 and 2: parallel, paned,
// map-reduce) against the obvious computation: of groups and of the whole stream, in every mode.
#include <utility>

#include "windows.hpp"

namespace strid {
namespace {

using namespace test;

/// What a stream of values adds up to, told apart by their order.
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

/// Positions of each key, shared by replicas: every window at its place, in order, those too that
/// the end cuts short. `value_of(aggregate)` of a window is that of its records one by one.
template <class A, class Share>
void positions_agree(const A& aggregate, const Share& share) {
    for (const auto& [length, slide] : {std::pair{10, 1}, {10, 4}, {10, 10}, {10, 13}, {12, 6}}) {
        const auto windows = CountWindows::sliding(length, slide);
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
            const auto events = random_events(seed, {}, 700);
            std::map<std::uint32_t, std::vector<Event>> of_key;
            for (const Event& event : events) of_key[event.key].push_back(event);
            const auto results = whole_stream(events, run_options(seed), [&](auto&& stream) {
                return share(std::move(stream).template group_by<&Event::key>(), windows,
                             aggregate);
            });
            std::map<std::uint32_t, std::uint64_t> next;
            for (const auto& result : results) {
                const auto& own = of_key.at(result.key);
                auto& start = next.try_emplace(result.key, 0).first->second;
                ASSERT_EQ(result.window.start, start) << "seed " << seed;
                start += static_cast<std::uint64_t>(slide);
                const auto end = std::min<std::uint64_t>(
                    result.window.start + static_cast<std::uint64_t>(length), own.size());
                ASSERT_EQ(result.window.end, end) << "seed " << seed;
                auto state = aggregate.identity();
                for (auto at = result.window.start; at < end; ++at) {
                    state = aggregate.combine(state, aggregate.lift(own[at]));
                }
                ASSERT_EQ(result.value, aggregate.lower(state)) << "seed " << seed;
            }
            const auto step = static_cast<std::uint64_t>(slide);
            for (const auto& [key, own] : of_key) {
                ASSERT_EQ(next[key], (own.size() + step - 1) / step * step) << "seed " << seed;
            }
        }
    }
}

TEST(WindowsOfTheWholeStream, OfCountsAreInTheOrderOfTheirPositions) {
    positions_agree(InSequence{}, [](auto stream, const CountWindows& windows, auto aggregate) {
        return std::move(stream).window(windows, aggregate);
    });
}

TEST(ParallelWindows, OfCountsAreInTheOrderOfTheirPositions) {
    positions_agree(InSequence{}, [](auto stream, const CountWindows& windows, auto aggregate) {
        return std::move(stream).parallel_windows(windows, aggregate, {.parallelism = 3});
    });
}

TEST(PanedWindows, OfCountsAreInTheOrderOfTheirPositions) {
    positions_agree(InSequence{}, [](auto stream, const CountWindows& windows, auto aggregate) {
        return std::move(stream).paned_windows(windows, aggregate, {.parallelism = 3});
    });
}

TEST(MapReduceWindows, OfCountsAreInTheOrderOfTheirPositions) {
    positions_agree(sum, [](auto stream, const CountWindows& windows, auto aggregate) {
        return std::move(stream).map_reduce_windows(windows, aggregate, {.parallelism = 3});
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
                                return share(std::move(stream).template group_by<&Event::key>());
                            })
            .size();
    };
    EXPECT_EQ(fired([&](auto stream) {
                  return std::move(stream).parallel_windows(windows, sum, dropping);
              }),
              whole);
    EXPECT_EQ(
        fired([&](auto stream) { return std::move(stream).paned_windows(windows, sum, dropping); }),
        whole);
    EXPECT_EQ(fired([&](auto stream) {
                  return std::move(stream).map_reduce_windows(windows, sum, dropping);
              }),
              whole);
}

}  // namespace
}  // namespace strid
