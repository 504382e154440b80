// SPDX-License-Identifier: Apache-2.0
//
// Graphs with windows whose work is shared in a given way, and the obvious computation
// (window_oracle.hpp) that they are held against.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "../windows.hpp"

namespace strid::test {

struct SharedResults {
    std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, double> last;  // of a window
    std::size_t fired = 0;
    std::uint64_t late = 0;
};

template <class Share>
SharedResults run_shared(const std::vector<Event>& events, const Share& share, Duration lateness,
                         std::uint64_t seed) {
    Graph graph{"shared"};
    auto rows = std::make_shared<Collected<Row>>();
    auto stream = graph.source(replay(events))
                      .event_time<&Event::time>(BoundedDisorder{Duration{50}})
                      .template key_by<&Event::key>();
    share(std::move(stream), WindowOptions{.name = "shared", .lateness = lateness})
        .sink(ToRows{rows});
    const RunReport report = run(graph, run_options(seed));
    SharedResults shared;
    for (const auto& [key, from, to, value] : rows->records()) {
        shared.last.insert_or_assign({key, from, to}, value);
        ++shared.fired;
    }
    shared.late = late_in(report);
    return shared;
}

/// Where the time that a record is late by does not depend on the replica that gets it.
template <class Share>
void agrees_when_shared(const Share& share, const TimeWindows& windows, const ValueOf& value_of,
                        const Shape& shape, Duration lateness = Duration::zero()) {
    for (const std::uint64_t seed : test::seeds(8)) {
        const auto events = random_events(seed, shape, event_count);
        const SharedResults shared = run_shared(events, share, lateness, seed);
        const auto oracle = expected(events, windows, Duration{50}, lateness, value_of);
        Answer answer;
        for (const auto& [where, value] : shared.last) {
            const auto& [key, from, to] = where;
            answer.rows.emplace_back(key, from, to, value);
        }
        ASSERT_EQ(answer.rows, oracle.rows) << "seed " << seed;
        ASSERT_EQ(shared.late, oracle.late.size()) << "seed " << seed;
        if (lateness == Duration::zero()) {
            EXPECT_EQ(shared.fired, oracle.rows.size()) << "a window fired twice";
        }
    }
}

/// The distributions as functions from a grouped stream to results.
inline const auto farmed = [](const auto& windows, const auto& aggregate) {
    return [windows, aggregate](auto&& grouped, WindowOptions options) {
        return std::move(grouped).window(windows, aggregate, share::farmed, options);
    };
};
inline const auto paned = [](const auto& windows, const auto& aggregate) {
    return [windows, aggregate](auto&& grouped, WindowOptions options) {
        return std::move(grouped).window(windows, aggregate, share::paned, options);
    };
};
inline const auto combined = [](const auto& windows, const auto& aggregate) {
    return [windows, aggregate](auto&& grouped, WindowOptions options) {
        return std::move(grouped).window(windows, aggregate, share::combined, options);
    };
};
inline const auto map_reduced = [](const auto& windows, const auto& aggregate) {
    return [windows, aggregate](auto&& grouped, WindowOptions options) {
        return std::move(grouped).window(windows, aggregate, share::map_reduce, options);
    };
};

inline const std::vector<TimeWindows> shapes{sliding(100, 25), sliding(100, 30, 7),
                                             sliding(100, 100), sliding(30, 70)};

}  // namespace strid::test
