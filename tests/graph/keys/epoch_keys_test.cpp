// SPDX-License-Identifier: Apache-2.0
//
// Text keys that come, fire and go: what a result says of its key is right wherever it is read,
// though the operator has long given the key's memory to another one. A key's text shows which
// window it lies in, so that a text that changed under a result is seen.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

#include "../windows.hpp"

namespace strid {
namespace {

constexpr std::int64_t span = 1'000;  // of a window, ns
const std::int64_t windows = test::perturbed ? 8 : 60;
constexpr std::int64_t keys_per_window = 700;

struct Visit {
    std::string_view visitor;
    EventTime time;
};

/// The visitors of a window come there only, the i-th of them 1 + i % 3 times.
class Visits {
  public:
    Visits() {
        for (std::int64_t window = 0; window != windows; ++window) {
            for (std::int64_t i = 0; i != keys_per_window; ++i) {
                names_.push_back(std::to_string(window) + ":" + std::to_string(i) +
                                 std::string(static_cast<std::size_t>(i % 40), '.'));
            }
        }
        for (std::int64_t window = 0; window != windows; ++window) {
            for (std::int64_t round = 0; round != 3; ++round) {
                for (std::int64_t i = 0; i != keys_per_window; ++i) {
                    if (round > i % 3) continue;
                    const auto at = static_cast<std::size_t>(window * keys_per_window + i);
                    visits_.push_back({names_[at], EventTime::of_ns(window * span + 100 * round)});
                }
            }
        }
    }
    [[nodiscard]] const std::vector<Visit>& all() const { return visits_; }

  private:
    std::vector<std::string> names_;
    std::vector<Visit> visits_;
};

/// A record with its key as text, read two nodes behind the window.
struct Seen {
    std::int64_t window = 0;
    std::int64_t visitor = 0;
    std::uint64_t count = 0;
    friend auto operator<=>(const Seen&, const Seen&) = default;
};
Seen read(std::string_view name, std::uint64_t count) {
    const std::string text(name);
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) return {-1, -1, count};
    return {std::stoll(text), std::stoll(text.substr(colon + 1)), count};
}

/// Runs `keyed` with a filter and a map behind it, each in a node of its own.
template <class Keyed>
std::vector<Seen> run_visits(const Visits& visits, std::uint64_t seed, const Keyed& keyed) {
    Graph graph{"visits"};
    auto results = keyed(graph.source(replay(visits.all()))
                             .event_time<&Visit::time>(MonotonousTime{})
                             .template key_by<&Visit::visitor>());
    using Result = typename decltype(results)::record_type;
    auto seen = std::make_shared<Collected<Seen>>();
    std::move(results)
        .rebalance()
        .filter([](const Result&) { return true; }, {.name = "behind", .parallelism = 2})
        .rebalance()
        .map([](const Result& result) { return read(result.key, result.value); },
             {.name = "read", .parallelism = 1})
        .sink(collect_into(seen));
    RunOptions options = test::run_options(seed);
    options.parallelism = 1 + seed % 2;
    run(graph, options);
    std::vector<Seen> sorted = seen->records();
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

std::vector<Seen> expected() {
    std::vector<Seen> all;
    for (std::int64_t window = 0; window != windows; ++window) {
        for (std::int64_t i = 0; i != keys_per_window; ++i) {
            all.push_back({window, i, static_cast<std::uint64_t>(1 + i % 3)});
        }
    }
    return all;
}

template <class Windows>
void are_read_to_the_letter(const Windows& spec) {
    const Visits visits;
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto seen = run_visits(visits, seed, [&spec](auto keyed) {
            return std::move(keyed).window(spec, window::count());
        });
        ASSERT_EQ(seen, expected()) << "seed " << seed;
    }
}

TEST(EpochKeys, AreReadToTheLetterBehindWindowsOfTime) {
    are_read_to_the_letter(window::TimeWindows::tumbling(Duration{span}));
}

TEST(EpochKeys, AreReadToTheLetterBehindSessions) {
    are_read_to_the_letter(window::SessionWindows::with_gap(Duration{300}));
}

TEST(EpochKeys, AreReadToTheLetterBehindParallelWindows) {
    const Visits visits;
    Graph graph{"farmed"};
    auto seen = std::make_shared<Collected<Seen>>();
    graph.source(replay(visits.all()))
        .event_time<&Visit::time>(MonotonousTime{})
        .key_by<&Visit::visitor>()
        .window(window::TimeWindows::tumbling(Duration{span}), window::count(), share::farmed,
                {.parallelism = 2})
        .map([](const auto& result) { return read(result.key, result.value); })
        .sink(collect_into(seen));
    run(graph);
    std::vector<Seen> sorted = seen->records();
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, expected());
}

}  // namespace
}  // namespace strid
