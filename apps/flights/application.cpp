// SPDX-License-Identifier: Apache-2.0
#include "../common/application.hpp"

#include <string>

#include <CLI/CLI.hpp>

#include <strid/program/arguments.hpp>

#include "flights.hpp"

namespace strid::apps {

namespace {

class Flights final : public Application {
  public:
    Flights() : Application("flights") {}

    void add_own_options(CLI::App& command) override {
        const auto file = [&command](const char* name, std::string& path, const char* help) {
            command.add_option(name, path, help)->type_name("FILE");
        };
        file("--weather", options_.weather, "Weather to join with; none: no join");
        file("--joined", options_.joined, "Where flights in their weather go");
        file("--rotations", options_.rotations, "Where rotations of aircraft go");
        file("--late", options_.late, "Where flights go that are too late for every window");
        add_duration_option(command, "--window", options_.window,
                            "Length of the windows (default 2h)", read_duration);
        add_duration_option(command, "--slide", options_.slide,
                            "From one window to the next (default 30m)", read_duration);
        add_duration_option(command, "--disorder", options_.disorder,
                            "How far a flight may leave before the latest before it (default 12h)",
                            read_duration_or_zero);
        add_duration_option(command, "--gap", options_.gap, "What ends a rotation (default 6h)",
                            read_duration);
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
