// SPDX-License-Identifier: Apache-2.0
//
// Joins of windows by key and shared by window.
#include <algorithm>
#include <memory>
#include <utility>

#include "joined.hpp"

namespace strid::test {

using namespace std::chrono_literals;

std::vector<InWindow> joined(const Inputs& inputs, const TimeWindows& windows, JoinKind kind,
                             const RunOptions& options, Shared shared, OpenWindows at_end) {
    Graph graph{"join"};
    auto pairs = std::make_shared<Collected<InWindow>>();
    const auto collect = [pairs](const auto& one) { pairs->add(in_window(one)); };
    auto events =
        graph.source(replay(inputs.events)).event_time<&Event::time>(BoundedDisorder{50ns});
    auto orders =
        graph.source(replay(inputs.orders)).event_time<&Order::time>(BoundedDisorder{50ns});
    const auto keys = on<&Event::key, &Order::buyer>();
    const JoinOptions named{.name = "join", .kind = kind, .at_end = at_end};
    if (shared == Shared::by_key) {
        join(std::move(events), std::move(orders), keys, windows, make_pair, named).sink(collect);
    } else {
        join(std::move(events), std::move(orders), keys, windows, make_pair, share::farmed, named)
            .sink(collect);
    }
    const RunReport report = run(graph, options);
    EXPECT_LE(late_in(report), late_in(inputs));
    auto answer = pairs->records();
    if (shared == Shared::by_window) {
        EXPECT_TRUE(
            std::is_sorted(answer.begin(), answer.end(),
                           [](const InWindow& a, const InWindow& b) { return a.first < b.first; }));
    }
    std::sort(answer.begin(), answer.end());
    return answer;
}

}  // namespace strid::test
