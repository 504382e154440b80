// SPDX-License-Identifier: Apache-2.0
//
// The same (set_windows.hpp) where replicas share the work in panes.
#include <string>

#include "set_windows.hpp"

namespace strid {
namespace {

using namespace test;

/// `share(grouped)` gives the windows of a grouped stream; `why` is what explain() says of them.
template <class Share>
void agrees_when_shared(const TimeWindows& windows, const OfRecords& oracle, const Share& share,
                        const std::string& why = "") {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, {.too_late = 0}, event_count);
        Graph graph{"shared"};
        auto rows = std::make_shared<Collected<Row>>();
        share(graph.source(replay(events))
                  .event_time<&Event::time>(BoundedDisorder{Duration{50}})
                  .template key_by<&Event::key>())
            .sink(ToRows{rows});
        ASSERT_NE(graph.explain({}).find(why), std::string::npos) << graph.explain({});
        run(graph, run_options(seed));
        auto answer = rows->records();
        std::sort(answer.begin(), answer.end());
        ASSERT_EQ(answer, expected(events, windows, Duration{50}, Duration::zero(), oracle).rows)
            << "seed " << seed;
    }
}
template <class A>
void agrees_in_panes(const TimeWindows& windows, const A& aggregate, const OfRecords& oracle) {
    agrees_when_shared(windows, oracle, [&](auto grouped) {
        return std::move(grouped).window(windows, aggregate, share::paned);
    });
}

/// Any replica may compute a pane: unions and lists of pairs do not depend on their order.
TEST(SharedSetWindows, CombinePanesOfDifferentReplicas) {
    agrees_in_panes(sliding(100, 25), remainders, remainders_of_records);
    agrees_in_panes(sliding(400, 50), about, sketch_of_records);
    agrees_in_panes(sliding(100, 100), largest, largest_of_records);
}

/// Whatever the windows and the replicas that are asked for.
TEST(SharedSetWindows, AreSharedInPanesByThemselves) {
    const auto by_default = [](const TimeWindows& windows, std::size_t parallelism,
                               const std::string& why) {
        agrees_when_shared(
            windows, remainders_of_records,
            [&](auto grouped) {
                return std::move(grouped).window(windows, remainders, share::automatic,
                                                 {.parallelism = parallelism});
            },
            why);
    };
    by_default(sliding(100, 25), 0, "paned: the aggregate is commutative");
    by_default(sliding(100, 35), 0, "share::map_reduce would send one part of a window for 7");
    by_default(sliding(100, 35), 3, "paned: ");
    by_default(sliding(100, 35), 1, "paned: ");
}

}  // namespace
}  // namespace strid
