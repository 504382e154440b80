// SPDX-License-Identifier: Apache-2.0
//
// Interval joins by key and shared by window.
#include <algorithm>
#include <memory>
#include <utility>

#include "joined.hpp"

namespace strid::test {

using namespace std::chrono_literals;

std::vector<Pair> joined(const Inputs& inputs, JoinInterval interval, JoinKind kind,
                         const RunOptions& options, Shared shared, OpenWindows at_end) {
    Graph graph{"join"};
    auto pairs = std::make_shared<Collected<Pair>>();
    const auto collect = [pairs](const Pair& pair) { pairs->add(pair); };
    auto events =
        graph.source(replay(inputs.events)).event_time<&Event::time>(BoundedDisorder{50ns});
    auto orders =
        graph.source(replay(inputs.orders)).event_time<&Order::time>(BoundedDisorder{50ns});
    const auto keys = on<&Event::key, &Order::buyer>();
    const JoinOptions named{.name = "join", .kind = kind, .at_end = at_end};
    if (shared == Shared::by_key) {
        std::move(events).join(std::move(orders), keys, interval, make_pair, named).sink(collect);
    } else {
        std::move(events)
            .join(std::move(orders), keys, interval, make_pair, share::farmed, named)
            .sink(collect);
    }
    const RunReport report = run(graph, options);
    EXPECT_EQ(late_in(report), late_in(inputs));
    auto result = pairs->records();
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace strid::test
