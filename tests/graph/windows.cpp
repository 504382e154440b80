// SPDX-License-Identifier: Apache-2.0
//
// The common part of the tests of windows, compiled once for all of them.
#include "windows.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

namespace strid::test {

std::vector<Event> random_events(std::uint64_t seed, const Shape& shape, std::size_t count) {
    std::mt19937_64 random{seed};
    const auto up_to = [&random](std::int64_t limit) {
        return limit <= 0
                   ? 0
                   : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit + 1));
    };
    std::vector<Event> events;
    std::int64_t now = -2'000;
    for (std::size_t i = 0; i < count; ++i) {
        now += up_to(99) == 0 ? up_to(shape.gap) : up_to(shape.step);
        const std::int64_t behind = up_to(15) == 0 ? up_to(shape.too_late) : up_to(shape.disorder);
        events.push_back({static_cast<std::uint32_t>(random() % shape.keys), at(now - behind),
                          up_to(1'000) - 500});
    }
    return events;
}

std::uint64_t late_in(const RunReport& report) {
    std::uint64_t late = 0;
    for (const auto& segment : report.segments) {
        for (const auto& one : segment.operators) late += one.records_late;
    }
    return late;
}

Answer answer_of(const std::vector<Row>& rows, std::vector<Event> late,
                 const WindowOptions& options) {
    Answer answer;
    std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, double> last;
    std::map<std::uint32_t, std::int64_t> ends;
    for (const auto& [key, start, end, value] : rows) {
        const bool is_new = last.insert_or_assign({key, start, end}, value).second;
        if (options.lateness != Duration::zero()) continue;
        EXPECT_TRUE(is_new) << "a window fired twice";
        auto& latest = ends.try_emplace(key, end).first->second;
        EXPECT_LE(latest, end) << "windows of a key fire in the order of their ends";
        latest = end;
    }
    for (const auto& [bounds, value] : last) {
        const auto [key, start, end] = bounds;
        answer.rows.emplace_back(key, start, end, value);
    }
    answer.late = std::move(late);
    sort(answer);
    return answer;
}

RunOptions run_options(std::uint64_t seed) {
    RunOptions options;
    options.seed = seed;
    switch (seed % 4) {
        case 0:
            options.mode = RunOptions::Mode::simulation;
            break;
        case 1:
            options.mode = RunOptions::Mode::dedicated;
            break;
        default:
            options.workers = 2;
            break;
    }
    options.parallelism = 1 + seed % 3;
    constexpr Composition compositions[] = {Composition::combined, Composition::dedicated,
                                            Composition::centralised};
    options.composition = compositions[seed / 2 % 3];
    return options;
}

}  // namespace strid::test
