// SPDX-License-Identifier: Apache-2.0
//
// Random patterns with loops in them, in the simulation, with queues of one task and more: they
// end, and what leaves is what the same functions give one after the other.
//
// STRID_PATTERNS says how many.
#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/pattern/any_pattern.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

constexpr std::size_t depth_max = 3;

struct Item {
    std::uint64_t value = 0;
    std::array<std::uint64_t, depth_max + 1> turns{};  // left in the loop of each depth

    auto operator<=>(const Item&) const = default;
};
using Items = std::vector<Item>;

/// Items that the functions may still make: some patterns multiply them without measure, and are
/// left out.
class Budget {
  public:
    struct Exceeded {};

    static void begin() { left = 20'000; }
    static Items spend(Items items) {
        if (items.size() > left) throw Exceeded{};
        left -= items.size();
        return items;
    }

  private:
    static inline std::size_t left = 0;
};

/// A pattern, the same as a function, and as text.
struct Case {
    AnyPattern<Item, Item> pattern;
    std::function<Items(const Item&)> apply;
    std::string text;
};

class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

    Case pattern(std::size_t depth) {
        if (depth == 0) return node_case();
        switch (below(6)) {
            case 0:
                return node_case();
            case 1:
            case 2:
                return pipeline_case(depth);
            case 3:
                return ordered_case();
            case 4:
                return farm_case(depth);
            default:
                return loop_case(depth);
        }
    }

  private:
    Case node_case() {
        const std::uint64_t factor = 1 + 2 * below(4);
        if (below(3) != 0) {
            const auto change = [factor](Item item) {
                item.value = item.value * factor + 1;
                return item;
            };
            return {change, [change](const Item& item) { return Items{change(item)}; }, "map"};
        }
        // None, one or two of each.
        const auto made_of = [factor](const Item& item) {
            Items made(item.value / factor % 3, item);
            for (std::size_t i = 0; i < made.size(); ++i) made[i].value += i;
            return made;
        };
        return {node<Item>([made_of](Item item, auto& emit) {
                    for (const Item& made : made_of(item)) emit(made);
                }),
                [made_of](const Item& item) { return Budget::spend(made_of(item)); }, "many"};
    }
    Case pipeline_case(std::size_t depth) {
        Case first = pattern(depth - 1);
        Case second = pattern(depth - 1);
        return {pipeline(first.pattern, second.pattern),
                [first, second](const Item& item) {
                    Items all;
                    for (const Item& made : first.apply(item)) {
                        const Items more = second.apply(made);
                        all.insert(all.end(), more.begin(), more.end());
                    }
                    return Budget::spend(std::move(all));
                },
                "pipeline(" + first.text + ", " + second.text + ")"};
    }
    Case ordered_case() {
        const std::size_t workers = 1 + below(3);
        const auto half = [](Item item) -> std::optional<Item> {
            if (item.value % 5 == 4) return std::nullopt;
            item.value /= 2;
            return item;
        };
        return {ordered_farm(half, OnDemand{1 + below(3)}, {.workers = workers}),
                [half](const Item& item) {
                    const auto made = half(item);
                    return made ? Items{*made} : Items{};
                },
                "ordered"};
    }
    Case farm_case(std::size_t depth) {
        Case worker = pattern(depth - 1);
        const FarmOptions options{.workers = 1 + below(3)};
        const auto shared = [&]() -> AnyPattern<Item, Item> {
            switch (below(5)) {
                case 0:
                    return farm(worker.pattern, RoundRobin{}, options);
                case 1:
                    return farm(worker.pattern, OnDemand{1}, options);
                case 2:
                    return farm(worker.pattern, LeastLoaded{}, options);
                case 3:
                    return farm(worker.pattern, ByKey{[](const Item& item) { return item.value; }},
                                options);
                default:
                    return farm(worker.pattern, options);
            }
        };
        return {shared(), worker.apply, "farm(" + worker.text + ")"};
    }
    /// Each item goes through the body so many times as it says for this depth, and some more.
    Case loop_case(std::size_t depth) {
        Case body = pattern(depth - 1);
        const auto begin = [depth](Item item) {
            item.turns[depth] = item.value % 3;
            return item;
        };
        const auto end = node<Item>([depth](Item item, auto& emit) {
            if (item.turns[depth] == 0) return emit(item);
            --item.turns[depth];
            if (item.value % 4 == 1) emit.again(item);  // two go on
            emit.again(item);
        });
        const FarmOptions options{.workers = 1 + below(2)};
        const auto apply = [depth, body](const auto& self, const Item& item) -> Items {
            Items all;
            for (Item made : body.apply(item)) {
                if (made.turns[depth] == 0) {
                    all.push_back(made);
                    continue;
                }
                --made.turns[depth];
                for (int i = made.value % 4 == 1 ? 0 : 1; i < 2; ++i) {
                    const Items more = self(self, made);
                    all.insert(all.end(), more.begin(), more.end());
                }
            }
            return Budget::spend(std::move(all));
        };
        return {pipeline(begin, iterate(pipeline(body.pattern, farm(end, options)))),
                [begin, apply](const Item& item) { return apply(apply, begin(item)); },
                "loop(" + body.text + ")"};
    }

    std::mt19937_64 random_;
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t pattern_count = 1'000;
#else
constexpr std::uint64_t pattern_count = 10'000;
#endif

TEST(RandomPatterns, EndAndGiveWhatTheirFunctionsGive) {
    const char* const asked = std::getenv("STRID_PATTERNS");
    const std::uint64_t count =
        asked != nullptr ? std::strtoull(asked, nullptr, 10) : pattern_count;
    std::uint64_t loops = 0;
    std::uint64_t items = 0;
    std::uint64_t left_out = 0;
    for (const std::uint64_t seed : seeds(count)) {
        Generator generator(seed);
        const Case one = generator.pattern(depth_max);
        const std::uint64_t item_count = generator.below(30);
        Items expected;
        try {
            Budget::begin();
            for (std::uint64_t n = 0; n < item_count; ++n) {
                const Items made = one.apply(Item{n, {}});
                expected.insert(expected.end(), made.begin(), made.end());
            }
        } catch (const Budget::Exceeded&) {
            ++left_out;
            continue;
        }
        std::sort(expected.begin(), expected.end());
        if (one.text.find("loop") != std::string::npos) ++loops;
        items += expected.size();
        Collected<Item> collected;
        run(pipeline(
                numbers(item_count),
                [](std::uint64_t n) {
                    return Item{n, {}};
                },
                one.pattern, collected.node()),
            Options{
                .execution = {.mode = runtime::ExecutionOptions::Mode::simulation, .seed = seed},
                .lane_tasks = std::size_t{1} << generator.below(3)});
        ASSERT_EQ(collected.sorted(), expected) << "seed " << seed << ": " << one.text;
    }
    if (count < 100) return;
    EXPECT_LE(left_out, count / 10);
    EXPECT_GE(loops, count / 10);
    EXPECT_GE(items, 5 * count);
}

}  // namespace
}  // namespace strid
