// SPDX-License-Identifier: Apache-2.0
#include "predictor.hpp"

#include <cmath>

namespace strid::apps::fraud_detection {

namespace {

double entropy_term(double probability) noexcept {
    return probability > 0 ? -probability * std::log(probability) : 0.0;
}

}  // namespace

Scorer::Scorer(const MarkovModel& model, Score score, double threshold)
    : states_(model.states()), threshold_(threshold) {
    using State = MarkovModel::State;
    for (std::size_t row = 0; row < states_; ++row) {
        const auto before = static_cast<State>(row);
        const auto probability = [&](std::size_t came) {
            return model.probability(before, static_cast<State>(came));
        };
        std::size_t likeliest = 0;
        double entropy = 0;
        for (std::size_t came = 0; came < states_; ++came) {
            if (probability(came) > probability(likeliest)) likeliest = came;
            entropy += entropy_term(probability(came));
        }
        for (std::size_t came = 0; came < states_; ++came) {
            double part = 0;
            for (std::size_t other = 0; other < states_; ++other) {
                if (other == came) continue;
                if (score == Score::miss_probability) part += probability(other);
                if (score == Score::entropy_reduction) part += entropy_term(probability(other));
            }
            if (score == Score::miss_rate) part = came == likeliest ? 0 : 1;
            parts_.push_back(part);
        }
        wholes_.push_back(score == Score::entropy_reduction ? entropy : 1);
    }
}

}  // namespace strid::apps::fraud_detection
