// SPDX-License-Identifier: Apache-2.0
//
// Flights as they leave, reported in the order of the timetable: three questions about one stream
// of event time that is out of order.
//
//   delays     per airport, in sliding windows: flights, their mean and their largest delay
//   aircraft   per aircraft, sessions of flights that follow each other within a gap
//   weather    each flight with the weather observed at its airport in the hour before it
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <strid/stream/graph.hpp>

#include "../common/endpoints.hpp"

namespace strid::apps::flights {

/// The text of a column, kept in the record: a join holds records longer than their batches.
using Airport = std::array<char, 4>;
using Aircraft = std::array<char, 8>;

struct Flight {
    std::int64_t time_ms;  ///< when it left, since 1970
    Airport airport;
    Aircraft aircraft;
    double delay;  ///< minutes behind the timetable
};

struct Weather {
    std::int64_t time_ms;
    Airport airport;
    double wind_speed;  ///< miles per hour
    double visibility;  ///< miles
};

/// Flights of an airport in a window.
struct Delays {
    std::string_view airport;
    std::int64_t start_ms;
    std::int64_t end_ms;
    std::uint64_t flights;
    double mean_delay;
    double max_delay;
};

/// Flights of an aircraft that followed each other.
struct Rotation {
    std::string_view aircraft;
    std::int64_t start_ms;
    std::int64_t end_ms;
    std::uint64_t flights;
    double max_delay;
};

struct FlightInWeather {
    std::int64_t time_ms;
    Airport airport;
    Aircraft aircraft;
    double delay;
    double wind_speed;
    double visibility;
};

struct Options {
    std::string weather = {};    ///< Input; empty: no join.
    std::string rotations = {};  ///< Outputs; empty: dropped.
    std::string joined = {};
    std::string late = {};
    std::chrono::nanoseconds window = std::chrono::hours{2};
    std::chrono::nanoseconds slide = std::chrono::minutes{30};
    std::chrono::nanoseconds disorder = std::chrono::hours{12};
    std::chrono::nanoseconds gap = std::chrono::hours{6};
};

void build(Graph& graph, const Endpoints& endpoints, const Options& options);

}  // namespace strid::apps::flights
