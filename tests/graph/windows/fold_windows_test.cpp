// SPDX-License-Identifier: Apache-2.0
//
// Folds over windows of every kind, against the fold of the records that the obvious computation
// (window_oracle.hpp) puts in each: a hash, which shows any other order, a record too many or too
// few.
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/window/aggregates/fold.hpp>

#include "../windows.hpp"
#include "hash_of_events.hpp"

namespace strid {
namespace {

using namespace test;

/// The oracle's value for the records of a window.
template <bool by_time>
double hash_of(std::vector<Event> records) {
    if constexpr (by_time) {
        std::stable_sort(records.begin(), records.end(),
                         [](const Event& a, const Event& b) { return a.time < b.time; });
    }
    return static_cast<double>(hash_in_order(records));
}

const auto folded = window::fold<Event>(first_hash, HashOn{});
const auto folded_in_order = window::fold<Event>(first_hash, HashOn{}, field<&Event::time>);
static_assert(window::FoldOf<decltype(folded), Event> && !window::Aggregate<decltype(folded)>);
static_assert(window::AggregateOf<decltype(folded_in_order), Event>);

template <bool by_time, class Windows, class F>
void agrees_with(const Windows& windows, const F& fold, const Shape& shape,
                 Duration lateness = Duration::zero()) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, shape, event_count);
        const Setting setting{.options = {.lateness = lateness}, .run = run_options(seed)};
        const Answer answer = computed(events, windows, fold, setting);
        const Answer oracle = expected(events, windows, setting.bound, lateness, hash_of<by_time>);
        ASSERT_EQ(answer.rows, oracle.rows) << "seed " << seed;
        ASSERT_EQ(answer.late, oracle.late) << "seed " << seed;
    }
}

TEST(FoldedWindows, OfTimeGoForwardAsRecordsCome) {
    agrees_with<false>(sliding(100, 100), folded, {});
    agrees_with<false>(sliding(100, 25), folded, {});
    agrees_with<false>(sliding(100, 30, 7), folded, {.keys = 2});
    agrees_with<false>(sliding(30, 70), folded, {.step = 40});
    agrees_with<false>(sliding(500, 10), folded, {.disorder = 300, .too_late = 2'000});
}

TEST(FoldedWindows, GoOnWithLateRecords) {
    agrees_with<false>(sliding(100, 100), folded, {.too_late = 900}, Duration{200});
    agrees_with<false>(sliding(100, 25), folded, {.too_late = 900}, Duration{90});
}

TEST(FoldedWindows, GoInTheOrderOfTimeWhereAskedFor) {
    agrees_with<true>(sliding(100, 25), folded_in_order, {});
    agrees_with<true>(SessionWindows::with_gap(Duration{40}), folded_in_order, {});
}

/// Where all come in their order the sessions of both are the same.
TEST(FoldedWindows, OfSessionsAreFoldedWhenTheyFire) {
    const Shape in_order{.disorder = 0, .too_late = 0};
    agrees_with<false>(SessionWindows::with_gap(Duration{40}), folded, in_order);
}

TEST(FoldedWindows, AreFarmedOut) {
    const auto windows = sliding(100, 25);
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {}, event_count);
        std::vector<Row> answer;
        for (const auto& result : whole_stream(events, run_options(seed), [&](auto&& stream) {
                 return std::move(stream).template key_by<&Event::key>().window(
                     windows, folded, share::automatic, {.parallelism = 3});
             })) {
            answer.emplace_back(result.key, result.window.start.ns(), result.window.end.ns(),
                                static_cast<double>(result.value));
        }
        std::sort(answer.begin(), answer.end());
        const auto oracle =
            expected(events, windows, Duration{50}, Duration::zero(), hash_of<false>);
        ASSERT_EQ(answer, oracle.rows) << "seed " << seed;
    }
}

using Counted = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>;

/// Of each key, windows of its positions: also those that the end cuts short.
template <class Build>
void counts_agree(const CountWindows& windows, const Build& build) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {}, 700);
        std::map<std::uint32_t, std::vector<Event>> of_key;
        for (const Event& event : events) of_key[event.key].push_back(event);
        std::vector<Counted> oracle;
        for (const auto& [key, own] : of_key) {
            for (std::uint64_t start = 0; start < own.size(); start += windows.slide()) {
                const auto end = std::min<std::uint64_t>(start + windows.length(), own.size());
                const auto at = own.begin() + static_cast<std::ptrdiff_t>(start);
                oracle.emplace_back(
                    key, start, end,
                    hash_in_order({at, at + static_cast<std::ptrdiff_t>(end - start)}));
            }
        }
        std::vector<Counted> answer;
        for (const auto& result : whole_stream(events, run_options(seed), build)) {
            answer.emplace_back(result.key, result.window.start, result.window.end, result.value);
        }
        std::sort(answer.begin(), answer.end());
        ASSERT_EQ(answer, oracle) << "seed " << seed << ", slide " << windows.slide();
    }
}

TEST(FoldedWindows, OfCountsGoForwardAsRecordsCome) {
    for (const std::uint64_t slide : {1U, 4U, 6U, 10U, 13U}) {
        const auto windows = CountWindows::sliding(10, slide);
        counts_agree(windows, [&](auto&& stream) {
            return std::move(stream).template key_by<&Event::key>().window(windows, folded);
        });
        counts_agree(windows, [&](auto&& stream) {
            return std::move(stream).template key_by<&Event::key>().window(
                windows, folded, share::automatic, {.parallelism = 3});
        });
    }
}

/// A window that starts anew at every record that is large.
TEST(FoldedWindows, FireByATrigger) {
    const auto trigger = [](const Event& event) {
        return event.value > 400 ? window::Trigger::fire_and_clear : window::Trigger::wait;
    };
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = random_events(seed, {}, 500);
        std::map<std::uint32_t, std::pair<std::uint64_t, std::vector<Event>>> open;
        std::vector<Counted> oracle;
        const auto close = [&oracle](std::uint32_t key, auto& start_and_records) {
            auto& [start, records] = start_and_records;
            oracle.emplace_back(key, start, start + records.size(), hash_in_order(records));
            start += records.size();
            records.clear();
        };
        for (const Event& event : events) {
            open[event.key].second.push_back(event);
            if (event.value > 400) close(event.key, open[event.key]);
        }
        for (auto& [key, rest] : open) {
            if (!rest.second.empty()) close(key, rest);
        }
        std::vector<Counted> answer;
        for (const auto& result : whole_stream(events, run_options(seed), [&](auto&& stream) {
                 return std::move(stream).template key_by<&Event::key>().window(
                     window::global(trigger), folded);
             })) {
            answer.emplace_back(result.key, result.window.start, result.window.end, result.value);
        }
        std::sort(answer.begin(), answer.end());
        std::sort(oracle.begin(), oracle.end());
        ASSERT_EQ(answer, oracle) << "seed " << seed;
    }
}

/// A state that is larger than a number and owns memory.
TEST(FoldedWindows, HaveAnyState) {
    using Last = std::map<std::int64_t, std::int64_t>;
    const auto last_of_each = window::fold<Event>(
        Last{}, [](Last& last, const Event& event) { last[event.value % 3] = event.time.ns(); });
    const std::vector<Event> events{{1, at(1), 1}, {1, at(2), 4}, {1, at(3), 2}, {1, at(12), 2}};
    const auto results = whole_stream(events, run_options(0), [&](auto&& stream) {
        return std::move(stream).template key_by<&Event::key>().window(sliding(10, 5),
                                                                       last_of_each);
    });
    std::map<std::int64_t, Last> answer;
    for (const auto& result : results) answer.emplace(result.window.start.ns(), result.value);
    const std::map<std::int64_t, Last> oracle{
        {-5, {{1, 2}, {2, 3}}}, {0, {{1, 2}, {2, 3}}}, {5, {{2, 12}}}, {10, {{2, 12}}}};
    EXPECT_EQ(answer, oracle);
}

}  // namespace
}  // namespace strid
