// SPDX-License-Identifier: Apache-2.0
#include "apps/common/application.hpp"

#include <string>

#include <CLI/CLI.hpp>

#include <strid/program/arguments.hpp>

#include "fraud_detection.hpp"

namespace strid::apps {

namespace {

using fraud_detection::MarkovModel;
using fraud_detection::Score;

class FraudDetection final : public Application {
  public:
    FraudDetection() : Application("fraud-detection") {}

    void add_own_options(CLI::App& command) override {
        add_choice<Score>(command, "--score", options_.score,
                          {{"miss-probability", Score::miss_probability},
                           {"miss-rate", Score::miss_rate},
                           {"entropy-reduction", Score::entropy_reduction}},
                          "How unlikely a sequence is");
        add_decimal_option(command, "--threshold", options_.threshold,
                           "An outlier is a sequence with a score above it");
        add_form_option(command);
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        auto model =
            side_file().empty() ? nullptr : std::make_shared<const MarkovModel>(side_file());
        fraud_detection::build(graph, endpoints, options_, std::move(model));
    }

  private:
    fraud_detection::Options options_;
};

}  // namespace

std::unique_ptr<Application> make_fraud_detection() {
    return std::make_unique<FraudDetection>();
}

}  // namespace strid::apps
