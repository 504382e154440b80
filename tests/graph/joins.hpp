// SPDX-License-Identifier: Apache-2.0
//
// Joins by nested loops, as the tests compare a running graph with them, and random streams for
// them (windows.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "windows.hpp"

namespace strid::test {

struct Order {
    std::uint32_t buyer;
    std::int64_t number;
    EventTime time;
};

struct Pair {
    std::int64_t left = -1;
    std::int64_t right = -1;
    friend auto operator<=>(const Pair&, const Pair&) = default;
};

struct Inputs {
    std::vector<Event> events;  // the value is the place in the stream
    std::vector<Order> orders;
};

/// Most within the disorder of 50 that the test promises.
inline Inputs random_inputs(std::uint64_t seed, std::size_t count) {
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

/// Inputs of which nothing is late.
inline Inputs punctual_inputs(std::uint64_t seed, std::size_t count) {
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

/// Those that a stream takes: who breaks its promise is late.
template <class Record>
std::vector<Record> punctual(const std::vector<Record>& records) {
    std::vector<Record> result;
    EventTime latest = EventTime::earliest();
    for (const Record& record : records) {
        if (record.time >= latest - Duration{50}) result.push_back(record);
        latest = std::max(latest, record.time);
    }
    return result;
}

inline std::uint64_t late_in(const Inputs& inputs) {
    return inputs.events.size() - punctual(inputs.events).size() + inputs.orders.size() -
           punctual(inputs.orders).size();
}

inline std::vector<Pair> nested_loops(const Inputs& inputs, std::int64_t lower, std::int64_t upper,
                                      JoinKind kind) {
    std::vector<Pair> pairs;
    std::vector<bool> met(inputs.orders.size());
    const auto orders = punctual(inputs.orders);
    for (const Event& event : punctual(inputs.events)) {
        bool met_any = false;
        for (const Order& order : orders) {
            const std::int64_t distance = (order.time - event.time).count();
            if (order.buyer != event.key || distance < lower || distance > upper) continue;
            met_any = met[static_cast<std::size_t>(order.number)] = true;
            pairs.push_back({event.value, order.number});
        }
        if (!met_any && kind != JoinKind::inner) pairs.push_back({event.value, -1});
    }
    for (const Order& order : orders) {
        if (kind == JoinKind::full && !met[static_cast<std::size_t>(order.number)]) {
            pairs.push_back({-1, order.number});
        }
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

inline constexpr auto make_pair = [](const Event* event, const Order* order) {
    return Pair{event == nullptr ? -1 : event->value, order == nullptr ? -1 : order->number};
};

/// Start of the window, and the pair.
using InWindow = std::pair<std::int64_t, Pair>;

inline std::vector<InWindow> loops_over_windows(const Inputs& inputs, const TimeWindows& windows,
                                                JoinKind kind) {
    std::map<std::pair<std::int64_t, std::uint32_t>, Inputs> contents;
    const auto put = [&](const auto& record, std::uint32_t key, auto side) {
        const auto range = windows.containing(record.time);
        for (auto k = range.first; k < range.end; ++k) {
            const auto bounds = windows.bounds(k);
            if (record.time >= bounds.end) continue;
            (contents[{bounds.start.ns(), key}].*side).push_back(record);
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
