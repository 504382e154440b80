// SPDX-License-Identifier: Apache-2.0
//
// Functions of all records in the kinds of windows where they are less common: windows of
// everything that a trigger fires, sessions and windows of everything over the whole stream as one
// group; and structures that are named for windows of counts, with functions for which the order
// matters. Against the obvious computation (window_oracle.hpp).
#include <span>
#include <utility>

#include <strid/engine/window/structures/daba_lite.hpp>
#include <strid/engine/window/structures/flat_fat.hpp>
#include <strid/engine/window/structures/monotone_deque.hpp>
#include <strid/engine/window/structures/two_stacks.hpp>
#include <strid/window/aggregates/content.hpp>
#include <strid/window/aggregates/fold.hpp>
#include <strid/window/aggregates/in_order.hpp>

#include "../windows.hpp"
#include "hash_of_events.hpp"

namespace strid {
namespace {

using namespace test;

/// The functions of one result each, in the order of the records as they came or of their times.
const auto content = window::content<Event>(hash_in_order);
const auto content_by_time = window::content<Event>(hash_in_order, field<&Event::time>);
const auto fold = window::fold<Event>(first_hash, HashOn{});
const auto fold_by_time = window::fold<Event>(first_hash, HashOn{}, field<&Event::time>);

std::uint64_t sum_of(std::span<const Event> events) {
    std::uint64_t total = 0;
    for (const Event& event : events) {
        total += static_cast<std::uint64_t>(event.time.ns() * 7 + event.value);
    }
    return total % 1'000'003;
}

/// Of none, one or two results, whatever the order of the records.
constexpr auto results_of = [](std::span<const Event> events, auto& emit) {
    for (std::size_t i = 0; i != events.size() % 3; ++i) emit(sum_of(events) + i);
};
const auto process = window::process<Event, std::uint64_t>(
    [](const auto&, const auto&, std::span<const Event> events, auto& emit) {
        results_of(events, emit);
    });

/// As if all records had one key.
std::vector<Event> in_one_group(std::vector<Event> events) {
    for (Event& event : events) event.key = 0;
    return events;
}

std::uint32_t number_of(std::uint32_t key) {
    return key;
}
template <class Key>
std::uint32_t number_of(const Key&) {
    return 0;
}

using ResultRow = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::uint64_t>;

/// The results of what `build` puts behind the events, as rows that rise.
template <class Build>
std::vector<ResultRow> result_rows(const std::vector<Event>& events, std::uint64_t seed,
                                   const Build& build) {
    std::vector<ResultRow> rows;
    for (const auto& result : whole_stream(events, run_options(seed), build)) {
        const auto key = number_of(result.key);
        if constexpr (requires { result.window.start.ns(); }) {
            rows.emplace_back(key, result.window.start.ns(), result.window.end.ns(), result.value);
        } else {
            rows.emplace_back(key, result.window.start, result.window.end, result.value);
        }
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

/// The results of both kinds of functions for a window.
struct OneResult {
    template <class Emit>
    void operator()(std::span<const Event> events, Emit& emit) const {
        emit(hash_in_order(events));
    }
};
using SomeResults = std::remove_const_t<decltype(results_of)>;

template <class ResultsOf>
void add_results(std::vector<ResultRow>& rows, const ResultsOf& results, std::uint32_t key,
                 std::int64_t start, std::int64_t end, std::span<const Event> records) {
    const auto emit = [&](std::uint64_t value) { rows.emplace_back(key, start, end, value); };
    results(records, emit);
}

// ---- windows of everything ---------------------------------------------------------------------

/// Fires at every fifth record of its key, and starts anew where one is large.
struct FifthOrLarge {
    int records = 0;
    window::Trigger operator()(const Event& event) {
        ++records;
        if (event.value > 400) return window::Trigger::fire_and_clear;
        return records % 5 == 0 ? window::Trigger::fire : window::Trigger::wait;
    }
};

template <class ResultsOf>
std::vector<ResultRow> results_by_trigger(const std::vector<Event>& events,
                                          const ResultsOf& results) {
    struct Key {
        FifthOrLarge trigger;
        std::int64_t start = 0;
        std::int64_t end = 0;
        std::int64_t fired = 0;
        std::vector<Event> records;
    };
    std::map<std::uint32_t, Key> keys;
    std::vector<ResultRow> rows;
    for (const Event& event : events) {
        Key& key = keys[event.key];
        key.records.push_back(event);
        ++key.end;
        const auto wanted = key.trigger(event);
        if (wanted == window::Trigger::wait) continue;
        add_results(rows, results, event.key, key.start, key.end, key.records);
        key.fired = key.end;
        if (wanted == window::Trigger::fire) continue;
        key.records.clear();
        key.start = key.end;
    }
    for (const auto& [number, key] : keys) {
        if (key.fired != key.end)
            add_results(rows, results, number, key.start, key.end, key.records);
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

template <class F, class ResultsOf>
void fires_by_the_trigger(const F& function, const ResultsOf& results) {
    for (const std::uint64_t seed : test::seeds(12)) {
        const auto events = random_events(seed, {}, 600);
        const auto by_key = result_rows(events, seed, [&](auto stream) {
            return std::move(stream).template key_by<&Event::key>().window(
                window::global(FifthOrLarge{}), function);
        });
        ASSERT_EQ(by_key, results_by_trigger(events, results)) << "seed " << seed;
        const auto whole = result_rows(events, seed, [&](auto stream) {
            return std::move(stream).window(window::global(FifthOrLarge{}), function);
        });
        ASSERT_EQ(whole, results_by_trigger(in_one_group(events), results)) << "seed " << seed;
    }
}

TEST(UncommonWindows, OfEverythingAreGivenToFunctionsOfTheirContent) {
    fires_by_the_trigger(content, OneResult{});
}
TEST(UncommonWindows, OfEverythingAreGivenToProcessFunctions) {
    fires_by_the_trigger(process, results_of);
}
TEST(UncommonWindows, OfEverythingAreFolded) {
    fires_by_the_trigger(fold, OneResult{});
}

// ---- sessions of the whole stream --------------------------------------------------------------

template <class F, class ResultsOf>
void lasts_as_records_come(const F& function, const ResultsOf& results) {
    const auto sessions = SessionWindows::with_gap(Duration{12});
    for (const std::uint64_t seed : test::seeds(12)) {
        const auto events = random_events(seed, {.step = 20, .disorder = 40}, event_count);
        std::vector<std::vector<Event>> contents;
        std::vector<ResultRow> oracle;
        const auto number_of_content = [&contents](std::vector<Event> records) {
            std::stable_sort(records.begin(), records.end(),
                             [](const Event& a, const Event& b) { return a.time < b.time; });
            contents.push_back(std::move(records));
            return contents.size() - 1;
        };
        for (const auto& [key, start, end, number] :
             expected(in_one_group(events), sessions, Duration{50}, Duration::zero(),
                      number_of_content)
                 .rows) {
            add_results(oracle, results, key, start, end,
                        contents[static_cast<std::size_t>(number)]);
        }
        std::sort(oracle.begin(), oracle.end());
        ASSERT_GT(contents.size(), 20U);
        const auto whole = result_rows(events, seed, [&](auto stream) {
            return std::move(stream).window(sessions, function);
        });
        ASSERT_EQ(whole, oracle) << "seed " << seed;
    }
}

TEST(UncommonWindows, OfSessionsOfTheWholeStreamAreGivenToFunctionsOfTheirContent) {
    lasts_as_records_come(content_by_time, OneResult{});
}
TEST(UncommonWindows, OfSessionsOfTheWholeStreamAreGivenToProcessFunctions) {
    lasts_as_records_come(process, results_of);
}
TEST(UncommonWindows, OfSessionsOfTheWholeStreamAreFolded) {
    lasts_as_records_come(fold_by_time, OneResult{});
}

// ---- counts in a structure that is named -------------------------------------------------------

/// One map x -> times * x + plus behind another: which comes first matters.
struct OneBehindAnother {
    struct State {
        std::uint64_t times = 1;
        std::uint64_t plus = 0;
    };
    static constexpr std::uint64_t modulus = 1'000'003;

    [[nodiscard]] State identity() const { return {}; }
    [[nodiscard]] State lift(const Event& event) const {
        const auto bits = static_cast<std::uint64_t>(event.time.ns() * 7 + event.value);
        return {2 + bits % 1'000, bits % modulus};
    }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        return {older.times * newer.times % modulus,
                (older.plus * newer.times + newer.plus) % modulus};
    }
    [[nodiscard]] std::uint64_t lower(const State& state) const {
        return state.times * modulus + state.plus;
    }
};

std::uint64_t one_behind_another(std::span<const Event> records) {
    constexpr std::uint64_t modulus = 1'000'003;
    std::uint64_t of_nought = 0;
    std::uint64_t of_one = 1;  // less what it makes of 0
    for (const Event& record : records) {
        const auto bits = static_cast<std::uint64_t>(record.time.ns() * 7 + record.value);
        of_one = of_one * (2 + bits % 1'000) % modulus;
        of_nought = (of_nought * (2 + bits % 1'000) + bits % modulus) % modulus;
    }
    return of_one * modulus + of_nought;
}

/// Of the records with the largest remainder the last one.
struct LastOfTheLargest {
    struct State {
        std::int64_t remainder = -1;
        std::uint64_t place = 0;
    };

    [[nodiscard]] State identity() const { return {}; }
    [[nodiscard]] State lift(const Event& event) const {
        return {(event.value + 500) % 4, static_cast<std::uint64_t>(event.time.ns())};
    }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        return covers(newer, older) ? newer : older;
    }
    [[nodiscard]] bool covers(const State& newer, const State& older) const {
        return newer.remainder >= older.remainder;
    }
    [[nodiscard]] std::uint64_t lower(const State& state) const { return state.place; }
};

std::uint64_t last_of_the_largest(std::span<const Event> records) {
    Event last = records.front();
    for (const Event& record : records) {
        if ((record.value + 500) % 4 >= (last.value + 500) % 4) last = record;
    }
    return static_cast<std::uint64_t>(last.time.ns());
}

/// `value_of(records)` is what the aggregate has to say of a window.
template <class A, class ValueOf>
void counts_agree(const A& aggregate, const ValueOf& value_of) {
    for (const auto& [length, slide] :
         {std::pair{20U, 5U}, {20U, 1U}, {7U, 7U}, {9U, 6U}, {3U, 8U}, {1'000U, 40U}}) {
        const auto windows = CountWindows::sliding(length, slide);
        for (const std::uint64_t seed : test::seeds(4)) {
            const auto events = random_events(seed, {}, event_count);
            std::map<std::uint32_t, std::vector<Event>> of_keys;
            for (const Event& event : events) of_keys[event.key].push_back(event);
            std::vector<ResultRow> oracle;
            for (const auto& [key, all] : of_keys) {
                for (std::size_t start = 0; start < all.size(); start += slide) {
                    const std::size_t end = std::min<std::size_t>(start + length, all.size());
                    oracle.emplace_back(key, start, end,
                                        value_of(std::span(all).subspan(start, end - start)));
                }
            }
            const auto by_key = result_rows(events, seed, [&](auto stream) {
                return std::move(stream).template key_by<&Event::key>().window(windows, aggregate);
            });
            ASSERT_EQ(by_key, oracle) << length << '/' << slide << " seed " << seed;
            const auto farmed = result_rows(events, seed, [&](auto stream) {
                return std::move(stream).template key_by<&Event::key>().window(windows, aggregate,
                                                                               share::farmed);
            });
            ASSERT_EQ(farmed, oracle) << length << '/' << slide << ", farmed, seed " << seed;
        }
    }
}

TEST(KeptCounts, InAMonotoneDeque) {
    counts_agree(window::kept_in<window::MonotoneDeque>(LastOfTheLargest{}), last_of_the_largest);
}
TEST(KeptCounts, InAFlatFat) {
    counts_agree(window::kept_in<window::FlatFat>(OneBehindAnother{}), one_behind_another);
}
TEST(KeptCounts, InTwoStacks) {
    counts_agree(window::kept_in<window::TwoStacks>(OneBehindAnother{}), one_behind_another);
}
TEST(KeptCounts, InDabaLite) {
    counts_agree(window::kept_in<window::DabaLite>(OneBehindAnother{}), one_behind_another);
}

}  // namespace
}  // namespace strid
