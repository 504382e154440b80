// SPDX-License-Identifier: Apache-2.0
#include "apps/common/application.hpp"

#include <chrono>
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>

#include <strid/program/arguments.hpp>

#include "yahoo_benchmark.hpp"

namespace strid::apps {

namespace {

class YahooBenchmark final : public Application {
  public:
    YahooBenchmark() : Application("yahoo-benchmark") {}

    void add_own_options(CLI::App& command) override {
        add_duration_option(command, "--window", counting_.window,
                            "Length of the windows (default 10s)", read_duration);
        add_duration_option(
            command, "--reload", reload_,
            "Look every TIME whether the file of campaigns has changed, and take a new one "
            "over\n(default 0s: never)",
            read_duration_or_zero);
        add_duration_option(command, "--disorder", counting_.disorder,
                            "How far a view may lie before the latest before it (default 1s)",
                            read_duration_or_zero);
        add_form_option(command);
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        if (side_file().empty()) return build_of(graph, endpoints, yahoo_benchmark::Campaigns{});
        const auto campaigns = yahoo_benchmark::read_campaigns(
            side_file(),
            {.check_every = reload_, .report = say_that_old_ones_stay, .user = "--campaigns"});
        build_of(graph, endpoints, campaigns.current());
    }

  private:
    void build_of(Graph& graph, const Endpoints& endpoints,
                  const yahoo_benchmark::Campaigns& campaigns) const {
        if (form() == GraphForm::paper) {
            yahoo_benchmark::build_papers_form(graph, endpoints, counting_, campaigns);
        } else {
            yahoo_benchmark::build(graph, endpoints, counting_, campaigns);
        }
    }
    static void say_that_old_ones_stay(const std::string& failure) {
        std::fprintf(stderr, "strid: %s; the campaigns stay as they were\n", failure.c_str());
    }

    std::chrono::nanoseconds reload_{0};
    yahoo_benchmark::Counting counting_;
};

}  // namespace

std::unique_ptr<Application> make_yahoo_benchmark() {
    return std::make_unique<YahooBenchmark>();
}

}  // namespace strid::apps
