// SPDX-License-Identifier: Apache-2.0
//
// The inputs of the tests of joins and the obvious computations, compiled once for all of them.
#include "joins.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace strid::test {

Inputs random_inputs(std::uint64_t seed, std::size_t count) {
    Inputs inputs;
    inputs.events = random_events(seed, {.keys = 7}, count);
    for (std::size_t i = 0; i < inputs.events.size(); ++i) {
        inputs.events[i].value = static_cast<std::int64_t>(i);
    }
    std::int64_t number = 0;
    for (const Event& event : random_events(seed + 1'000, {.keys = 9, .step = 20}, count / 2)) {
        inputs.orders.push_back({event.key, number++, event.time});
    }
    return inputs;
}

Inputs punctual_inputs(std::uint64_t seed, std::size_t count) {
    Inputs inputs = random_inputs(seed, count);
    const auto in_time = [](auto& records) {
        EventTime latest = EventTime::earliest();
        std::erase_if(records, [&latest](const auto& record) {
            latest = std::max(latest, record.time);
            return record.time < latest - Duration{50};
        });
    };
    in_time(inputs.events);
    in_time(inputs.orders);
    return inputs;
}

Inputs punctual(const Inputs& inputs, Duration lateness) {
    return {punctual(inputs.events, lateness), punctual(inputs.orders, lateness)};
}

std::uint64_t late_in(const Inputs& inputs, Duration lateness) {
    const Inputs taken = punctual(inputs, lateness);
    return inputs.events.size() - taken.events.size() + inputs.orders.size() - taken.orders.size();
}

std::vector<Pair> pairs_of(const Inputs& taken, std::int64_t lower, std::int64_t upper,
                           JoinKind kind) {
    std::vector<Pair> pairs;
    std::vector<bool> met(taken.orders.size());
    for (const Event& event : taken.events) {
        bool met_any = false;
        for (std::size_t i = 0; i != taken.orders.size(); ++i) {
            const Order& order = taken.orders[i];
            const std::int64_t distance = (order.time - event.time).count();
            if (order.buyer != event.key || distance < lower || distance > upper) continue;
            met_any = met[i] = true;
            pairs.push_back({event.value, order.number});
        }
        if (!met_any && kind != JoinKind::inner) pairs.push_back({event.value, -1});
    }
    for (std::size_t i = 0; i != taken.orders.size(); ++i) {
        if (kind == JoinKind::full && !met[i]) pairs.push_back({-1, taken.orders[i].number});
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

std::vector<Pair> nested_loops(const Inputs& inputs, std::int64_t lower, std::int64_t upper,
                               JoinKind kind) {
    return pairs_of(punctual(inputs), lower, upper, kind);
}

std::vector<InWindow> loops_over_windows(const Inputs& inputs, const TimeWindows& windows,
                                         JoinKind kind) {
    std::map<std::pair<std::int64_t, std::uint32_t>, Inputs> contents;
    const auto put = [&](const auto& record, std::uint32_t key, auto side) {
        for (const std::int64_t start : starts_of(windows, record.time)) {
            (contents[{start, key}].*side).push_back(record);
        }
    };
    for (const Event& event : inputs.events) put(event, event.key, &Inputs::events);
    for (const Order& order : inputs.orders) put(order, order.buyer, &Inputs::orders);
    std::vector<InWindow> pairs;
    for (const auto& [where, both] : contents) {
        const std::int64_t start = where.first;
        for (const Event& event : both.events) {
            for (const Order& order : both.orders) {
                pairs.push_back({start, {event.value, order.number}});
            }
            if (both.orders.empty() && kind != JoinKind::inner) {
                pairs.push_back({start, {event.value, -1}});
            }
        }
        if (!both.events.empty() || kind != JoinKind::full) continue;
        for (const Order& order : both.orders) pairs.push_back({start, {-1, order.number}});
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

}  // namespace strid::test
