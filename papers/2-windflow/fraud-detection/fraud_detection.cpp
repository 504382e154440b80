// SPDX-License-Identifier: Apache-2.0
#include "fraud_detection.hpp"

#include <utility>

#include "transaction_generator.hpp"

namespace strid::apps::fraud_detection {

void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           std::shared_ptr<const MarkovModel> model) {
    auto scorer =
        model ? std::make_shared<const Scorer>(*model, options.score, options.threshold) : nullptr;
    const auto keyed = [&](auto source) {
        return graph.source(std::move(source), {.name = "transactions"})
            .template key_by<&Transaction::account>()
            .sealed();
    };
    auto by_account =
        model && endpoints.generate > 0
            ? with_pace(TransactionGenerator(endpoints.generate, endpoints.seed, model), endpoints,
                        keyed)
            : with_pace(TransactionSource(endpoints.input,
                                          {.on_malformed = endpoints.on_malformed,
                                           .dead_letter = endpoints.dead_letter},
                                          {model}),
                        endpoints, keyed);
    auto outliers =
        std::move(by_account)
            .template flat_map<Outlier>(Predictor(std::move(scorer)), {.name = "predict"});
    write_results<Outlier>(std::move(outliers), endpoints);
}

}  // namespace strid::apps::fraud_detection
