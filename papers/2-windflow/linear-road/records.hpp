// SPDX-License-Identifier: Apache-2.0
//
// The records of Linear Road: plain values of 20 and 24 bytes.
#pragma once

#include <chrono>
#include <cstdint>

#include <strid/base/time.hpp>

namespace strid::apps::linear_road {

inline constexpr std::int32_t segments = 100;
inline constexpr std::int32_t expressways_max = 32'768;
inline constexpr std::uint8_t exit_lane = 4;
inline constexpr std::int32_t days_max = 69;  // that a question may go back

/// The types of the benchmark's input.
enum class Kind : std::uint8_t { position = 0, balance = 2, expenditure = 3, travel_time = 4 };

/// A line of the input: a position report or a question.
struct Event {
    std::int32_t time;  ///< seconds
    std::int32_t car;
    union {
        std::int32_t position;  ///< feet, of a report
        std::int32_t query;     ///< of a question
    };
    std::uint16_t expressway;
    Kind kind;
    std::uint8_t speed;  ///< miles an hour
    std::uint8_t lane;
    std::uint8_t direction;
    union {
        std::uint8_t segment;  ///< of a report
        std::uint8_t day;      ///< of a question: so many days ago
    };

    [[nodiscard]] std::uint32_t road() const noexcept { return expressway * 2U + direction; }
};
static_assert(sizeof(Event) == 20);

/// A record that leaves a road: a row of the output (README.md), or what becomes one behind it.
/// Fields that a kind does not have are 0.
struct Notice {
    enum class Kind : std::uint8_t {
        toll,
        accident,
        balance,
        expenditure,
        charge,
        ask_balance,
        ask_expenditure
    };

    std::int32_t time;
    /// The car; of `balance`, `expenditure` and `ask_expenditure` the number of the question.
    std::int32_t subject;
    std::int64_t amount;  ///< toll, balance, expenditure; what is looked up in the history
    /// LAV; segment of the accident; time of the balance's last change; number of the question.
    std::int32_t detail;
    Kind kind;
};
static_assert(sizeof(Notice) == 24);

/// The event time of any of them.
struct TimeOf {
    template <class Record>
    EventTime operator()(const Record& record) const noexcept {
        return EventTime{std::chrono::seconds{record.time}};
    }
};

}  // namespace strid::apps::linear_road
