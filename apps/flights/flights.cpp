// SPDX-License-Identifier: Apache-2.0
#include "flights.hpp"

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/together.hpp>

namespace strid::apps::flights {

namespace {

using std::chrono::milliseconds;

template <class Record>
EventTime time_of(const Record& record) {
    return EventTime{milliseconds{record.time_ms}};
}
struct FlightTime {
    EventTime operator()(const Flight& flight) const { return time_of(flight); }
};
using Flights = StreamTimedBy<Flight, FlightTime>;
constexpr FlightTime flight_time{};
constexpr auto weather_time = [](const Weather& weather) { return time_of(weather); };

template <std::size_t size>
std::string_view text_of(const std::array<char, size>& text) {
    return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}
constexpr auto airport_of = [](const auto& record) { return text_of(record.airport); };
constexpr auto aircraft_of = [](const Flight& flight) { return text_of(flight.aircraft); };

std::int64_t in_ms(EventTime time) {
    return time.ns() / 1'000'000;
}

template <class T>
void write(Stream<T> stream, const std::string& path, const Endpoints& endpoints,
           const char* name) {
    if (path.empty()) {
        std::move(stream).sink(discard(), {.name = name});
    } else {
        std::move(stream).sink(
            csv_writer<T>(endpoints.output_of(path), {.writing = endpoints.writing}),
            {.name = name});
    }
}

void ask_delays(Flights flights, const Endpoints& endpoints, const Options& options) {
    const auto statistics = window::together(window::count(), window::mean<&Flight::delay>(),
                                             window::maximum<&Flight::delay>());
    auto [delays, late] = std::move(flights)
                              .key_by(airport_of)
                              .window(window::TimeWindows::sliding(options.window, options.slide),
                                      statistics, late_apart, {.name = "delays"});
    write_results<Delays>(std::move(delays).map([](const auto& result) {
        const auto [count, mean, largest] = result.value;
        return Delays{result.key, in_ms(result.window.start), in_ms(result.window.end), count, mean,
                      largest};
    }),
                          endpoints);
    write<Flight>(std::move(late), options.late, endpoints, "write-late");
}

void ask_rotations(Flights flights, const Endpoints& endpoints, const Options& options) {
    Stream<Rotation> rotations =
        std::move(flights)
            .key_by(aircraft_of)
            .window(window::SessionWindows::with_gap(options.gap),
                    window::together(window::count(), window::maximum<&Flight::delay>()),
                    {.name = "rotations"})
            .map([](const auto& result) {
                const auto [count, largest] = result.value;
                return Rotation{result.key, in_ms(result.window.start), in_ms(result.window.end),
                                count, largest};
            });
    write(std::move(rotations), options.rotations, endpoints, "write-rotations");
}

void ask_weather(Graph& graph, Flights flights, const Endpoints& endpoints,
                 const Options& options) {
    using std::chrono::hours;
    auto weather =
        graph
            .source(csv_file<Weather>(options.weather, {.on_malformed = endpoints.on_malformed,
                                                        .dead_letter = endpoints.dead_letter}),
                    {.name = "weather"})
            .event_time(weather_time, MonotonousTime{}, {.name = "weather-time"});
    Stream<FlightInWeather> joined = std::move(flights).join(
        std::move(weather), on(airport_of),
        JoinInterval{.lower = {-hours{1}, false}, .upper = {hours{0}}},
        [](const Flight& flight, const Weather& weather) {
            return FlightInWeather{flight.time_ms, flight.airport,     flight.aircraft,
                                   flight.delay,   weather.wind_speed, weather.visibility};
        },
        {.name = "in-weather"});
    write(std::move(joined), options.joined, endpoints, "write-joined");
}

}  // namespace

void build(Graph& graph, const Endpoints& endpoints, const Options& options) {
    if (endpoints.replays()) {
        throw GraphError("flights cannot be replayed: their times would begin again");
    }
    auto source = csv_file<Flight>(endpoints.input, {.on_malformed = endpoints.on_malformed,
                                                     .dead_letter = endpoints.dead_letter});
    const bool joins = !options.weather.empty();
    const std::size_t count = joins ? 3 : 2;
    auto questions = with_pace(std::move(source), endpoints, [&](auto paced_source) {
        return graph.source(std::move(paced_source), {.name = "flights"})
            .event_time(flight_time, BoundedDisorder{options.disorder}, {.name = "time"})
            .split(count,
                   [count](const Flight&) { return std::views::iota(std::size_t{0}, count); });
    });
    ask_delays(questions.select(0), endpoints, options);
    ask_rotations(questions.select(1), endpoints, options);
    if (joins) ask_weather(graph, questions.select(2), endpoints, options);
}

}  // namespace strid::apps::flights
