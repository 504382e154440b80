// SPDX-License-Identifier: Apache-2.0
#include "apps/common/application.hpp"

#include <string>

#include <CLI/CLI.hpp>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "fraud_detection.hpp"

namespace strid::apps {

namespace {

using fraud_detection::MarkovModel;
using fraud_detection::Score;

class FraudDetection final : public Application {
  public:
    FraudDetection()
        : Application(
              {.name = "fraud-detection",
               .details =
                   "Input:   account,transaction,state\n"
                   "Output:  account,transaction,score\n"
                   "Model:   the states in the first line, then a line of probabilities per state\n"
                   "Operators: transactions, predict, write\n"
                   "\n"
                   "Examples (in papers/2-windflow/fraud-detection/data):\n"
                   "  strid run fraud-detection --model model.txt --input transactions.csv\n"
                   "  strid run fraud-detection --model model.txt --input transactions.csv "
                   "--score miss-rate\n"
                   "  strid run fraud-detection --model model.txt --input transactions.csv "
                   "--duration 10s\n"
                   "  strid run fraud-detection --model model.txt --generate 10M --rate 1M\n",
               .source_name = "transactions",
               .generates = true}) {}

    void add_options(CLI::App& command) override {
        command
            .add_option("--model", model_path_, "States and probabilities of transitions; needed")
            ->type_name("FILE");
        add_choice<Score>(command, "--score", options_.score,
                          {{"miss-probability", Score::miss_probability},
                           {"miss-rate", Score::miss_rate},
                           {"entropy-reduction", Score::entropy_reduction}},
                          "How unlikely a sequence is");
        add_decimal_option(command, "--threshold", options_.threshold,
                           "An outlier is a sequence with a score above it");
    }
    void check() const override {
        if (!model_path_.empty()) return;
        throw GraphError(
            "fraud-detection needs --model FILE, as "
            "papers/2-windflow/fraud-detection/data/model.txt");
    }
    [[nodiscard]] std::vector<FileUse> files() const override {
        if (model_path_.empty()) return {};
        return {{.kind = FileUse::Kind::reads, .path = model_path_, .user = "--model"}};
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        auto model =
            model_path_.empty() ? nullptr : std::make_shared<const MarkovModel>(model_path_);
        fraud_detection::build(graph, endpoints, options_, std::move(model));
    }

  private:
    std::string model_path_;
    fraud_detection::Options options_;
};

}  // namespace

std::unique_ptr<Application> make_fraud_detection() {
    return std::make_unique<FraudDetection>();
}

}  // namespace strid::apps
