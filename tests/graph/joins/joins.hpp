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
Inputs random_inputs(std::uint64_t seed, std::size_t count);

/// Inputs of which nothing is late.
Inputs punctual_inputs(std::uint64_t seed, std::size_t count);

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

Inputs punctual(const Inputs& inputs, Duration lateness = Duration::zero());

std::uint64_t late_in(const Inputs& inputs, Duration lateness = Duration::zero());

/// The pairs of records that are all taken.
std::vector<Pair> pairs_of(const Inputs& taken, std::int64_t lower, std::int64_t upper,
                           JoinKind kind);

std::vector<Pair> nested_loops(const Inputs& inputs, std::int64_t lower, std::int64_t upper,
                               JoinKind kind);

inline constexpr auto make_pair = [](const Event* event, const Order* order) {
    return Pair{event == nullptr ? -1 : event->value, order == nullptr ? -1 : order->number};
};

/// Start of the window, and the pair.
using InWindow = std::pair<std::int64_t, Pair>;
inline constexpr auto in_window = [](const auto& result) {
    return InWindow{result.window.start.ns(), result.value};
};

std::vector<InWindow> loops_over_windows(const Inputs& inputs, const TimeWindows& windows,
                                         JoinKind kind);

}  // namespace strid::test
