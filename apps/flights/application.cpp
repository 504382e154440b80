// SPDX-License-Identifier: Apache-2.0
#include "../common/application.hpp"

#include <string>

#include <CLI/CLI.hpp>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "flights.hpp"

namespace strid::apps {

namespace {

class Flights final : public Application {
  public:
    Flights()
        : Application(
              {.name = "flights",
               .details =
                   "Input:     time,airport,aircraft,delay  (time in ms since 1970, delay in "
                   "minutes)\n"
                   "Output:    airport,window_start,window_end,flights,mean_delay,max_delay\n"
                   "Rotations: aircraft,start,end,flights,max_delay\n"
                   "Weather:   time,airport,wind_speed,visibility, joined with the flights of the "
                   "hour\n"
                   "           after it: time,airport,aircraft,delay,wind_speed,visibility\n"
                   "Operators: flights, time, delays, rotations, in-weather and their writers\n"
                   "\n"
                   "Examples (in apps/flights/data):\n"
                   "  strid run flights --input flights.csv --output delays.csv\n"
                   "  strid run flights --input flights.csv --weather weather.csv --joined "
                   "joined.csv\n"
                   "  strid run flights --input flights.csv --disorder 10m --late late.csv\n",
               .source_name = "flights"}) {}

    void add_options(CLI::App& command) override {
        const auto file = [&command](const char* name, std::string& path, const char* help) {
            command.add_option(name, path, help)->type_name("FILE");
        };
        const auto duration = [&command](const char* name, std::chrono::nanoseconds& value,
                                         const char* help, auto read) {
            add_text_option(
                command, name, "TIME",
                [&value, read](const std::string& text) { value = read(text); }, help);
        };
        file("--weather", options_.weather, "Weather to join with; none: no join");
        file("--joined", options_.joined, "Where flights in their weather go");
        file("--rotations", options_.rotations, "Where rotations of aircraft go");
        file("--late", options_.late, "Where flights go that are too late for every window");
        duration("--window", options_.window, "Length of the windows (default 2h)", read_duration);
        duration("--slide", options_.slide, "From one window to the next (default 30m)",
                 read_duration);
        duration("--disorder", options_.disorder,
                 "How far a flight may leave before the latest before it (default 12h)",
                 read_duration_or_zero);
        duration("--gap", options_.gap, "What ends a rotation (default 6h)", read_duration);
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        flights::build(graph, endpoints, options_);
    }

  private:
    flights::Options options_;
};

}  // namespace

std::unique_ptr<Application> make_flights() {
    return std::make_unique<Flights>();
}

}  // namespace strid::apps
