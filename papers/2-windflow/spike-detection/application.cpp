// SPDX-License-Identifier: Apache-2.0
#include "apps/common/application.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/program/arguments.hpp>

#include "spike_detection.hpp"

namespace strid::apps {

namespace {

class SpikeDetection final : public Application {
  public:
    SpikeDetection() : Application("spike-detection") {}

    void add_own_options(CLI::App& command) override {
        add_decimal_option(command, "--threshold", options_.threshold,
                           "A spike is a reading with |value - mean| > threshold * mean");
        add_number_option(
            command, "--window", options_.window, 1, window_max,
            fmt::format("Readings that the mean is over (default: {})", options_.window));
        add_form_option(command);
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        spike_detection::build(graph, endpoints, options_);
    }

  private:
    static constexpr std::size_t window_max = 100'000'000;

    spike_detection::Options options_;
};

}  // namespace

std::unique_ptr<Application> make_spike_detection() {
    return std::make_unique<SpikeDetection>();
}

}  // namespace strid::apps
