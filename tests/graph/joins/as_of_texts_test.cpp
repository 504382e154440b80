// SPDX-License-Identifier: Apache-2.0
//
// As-of joins of records that own their text, as do their keys.
#include <string>

#include "late_joins.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

struct Named {
    std::string name;
    EventTime time;
    std::string text;
};

/// Keys and records own their text, also where the key is let go and comes again.
TEST(AsOfJoin, RecordsOfOwnText) {
    const auto name_of = [](std::int64_t i) {
        return std::string(40, 'k') + std::to_string(i % 3);
    };
    std::vector<Named> lefts;
    std::vector<Named> rights;
    std::vector<std::string> expected;
    for (std::int64_t i = 0; i < 300; ++i) {
        // Three of a key within the tolerance of a right record, which comes between two gaps.
        const std::int64_t time = i / 9 * 1'000 + i % 9;
        lefts.push_back({name_of(i), at(time + 10), "left " + std::to_string(i)});
        if (i % 9 < 3) rights.push_back({name_of(i), at(time), "right " + std::to_string(i)});
        expected.push_back("left " + std::to_string(i) + " right " +
                           std::to_string(i / 9 * 9 + i % 3));
    }
    for (const std::uint64_t seed : test::seeds(4)) {
        Graph graph{"text"};
        auto texts = std::make_shared<Collected<std::string>>();
        as_of(graph.source(replay(lefts)).event_time<&Named::time>(MonotonousTime{}),
              graph.source(replay(rights)).event_time<&Named::time>(MonotonousTime{}),
              on<&Named::name>(),
              [](const auto& a, const auto& b) { return a.text + " " + b.text; },
              {.tolerance = 20ns})
            .sink([texts](const std::string& text) { texts->add(text); });
        EXPECT_EQ(late_in(run(graph, run_options(seed))), 0U);
        auto result = texts->records();
        std::sort(result.begin(), result.end());
        auto sorted = expected;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(result, sorted) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid
