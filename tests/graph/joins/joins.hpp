// SPDX-License-Identifier: Apache-2.0
//
// Joins by nested loops, as the tests compare a running graph with them, and random streams for
// them (windows.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/clock.hpp>

#include "../windows.hpp"

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

/// How the work of a join is divided.
enum class Shared { by_key, by_window };

struct Inputs {
    std::vector<Event> events;  // the value is the place in the stream
    std::vector<Order> orders;
};

/// Most records lie within the bounded disorder of 50.
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

/// Reports its time as `punctual` does, and becomes idle now and then. While it is idle it does not
/// hold back the watermark, so when it goes on the other inputs may be far ahead.
template <class Record>
struct Dozing {
    using record_type = Record;
    static constexpr SourceTraits traits{.hears = events<>, .has = Has::wake_at_ns};
    std::vector<Record> records;
    std::uint64_t seed;
    std::size_t next = 0;
    EventTime latest = EventTime::earliest();
    std::mt19937_64 random{seed};
    std::int64_t wake_ns = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (now_ns() < wake_ns) return SourceStatus::idle;
        wake_ns = 0;
        for (; budget != 0 && next != records.size(); --budget) {
            latest = std::max(latest, records[next].time);
            const bool has_room = emit(records[next++]);
            emit.watermark(latest - Duration{50});
            if (random() % 100 == 0) {
                emit.idle();
                wake_ns = now_ns() + 100'000;
                return SourceStatus::idle;
            }
            if (!has_room) break;
        }
        return next != records.size() ? SourceStatus::more : SourceStatus::finished;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return wake_ns; }
    auto state() { return std::tie(seed, next, latest, wake_ns); }
};

/// The records that a stream takes: a record that lies behind its watermark by more than the
/// lateness is late.
template <class Record>
std::vector<Record> punctual(const std::vector<Record>& records,
                             Duration lateness = Duration::zero()) {
    std::vector<Record> result;
    EventTime latest = EventTime::earliest();
    for (const Record& record : records) {
        if (record.time >= latest - Duration{50} - lateness) result.push_back(record);
        latest = std::max(latest, record.time);
    }
    return result;
}

inline Inputs punctual(const Inputs& inputs, Duration lateness = Duration::zero()) {
    return {punctual(inputs.events, lateness), punctual(inputs.orders, lateness)};
}

inline std::uint64_t late_in(const Inputs& inputs, Duration lateness = Duration::zero()) {
    const Inputs taken = punctual(inputs, lateness);
    return inputs.events.size() - taken.events.size() + inputs.orders.size() - taken.orders.size();
}

/// The pairs of records that are all taken.
inline std::vector<Pair> pairs_of(const Inputs& taken, std::int64_t lower, std::int64_t upper,
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

inline std::vector<Pair> nested_loops(const Inputs& inputs, std::int64_t lower, std::int64_t upper,
                                      JoinKind kind) {
    return pairs_of(punctual(inputs), lower, upper, kind);
}

inline constexpr auto make_pair = [](const Event* event, const Order* order) {
    return Pair{event == nullptr ? -1 : event->value, order == nullptr ? -1 : order->number};
};

/// Start of the window, and the pair.
using InWindow = std::pair<std::int64_t, Pair>;
inline constexpr auto in_window = [](const auto& result) {
    return InWindow{result.window.start.ns(), result.value};
};

inline std::vector<InWindow> loops_over_windows(const Inputs& inputs, const TimeWindows& windows,
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
