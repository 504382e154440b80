// SPDX-License-Identifier: Apache-2.0
#include "predictor.hpp"

#include <bit>
#include <cmath>

namespace strid::apps::fraud_detection {

namespace {

double entropy_term(double probability) noexcept {
    return probability > 0 ? -probability * std::log(probability) : 0.0;
}

/// The part that the states other than `came` add to the score of a transition.
double part_of(const std::vector<double>& row, std::size_t came, Score score) {
    if (score == Score::miss_rate) {
        std::size_t likeliest = 0;
        for (std::size_t i = 1; i < row.size(); ++i) {
            if (row[i] > row[likeliest]) likeliest = i;
        }
        return came == likeliest ? 0 : 1;
    }
    double part = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (i == came) continue;
        part += score == Score::miss_probability ? row[i] : entropy_term(row[i]);
    }
    return part;
}

double whole_of(const std::vector<double>& row, Score score) {
    if (score != Score::entropy_reduction) return 1;
    double entropy = 0;
    for (const double probability : row) entropy += entropy_term(probability);
    return entropy;
}

}  // namespace

Scorer::Scorer(const MarkovModel& model, Score score, double threshold)
    : threshold_(threshold),
      row_bits_(static_cast<unsigned>(std::bit_width(model.states() - 1))),
      row_mask_((Transitions{1} << row_bits_) - 1),
      terms_(model.states() << row_bits_) {
    using State = MarkovModel::State;
    for (std::size_t before = 0; before < model.states(); ++before) {
        std::vector<double> row;
        for (std::size_t came = 0; came < model.states(); ++came) {
            row.push_back(model.probability(static_cast<State>(before), static_cast<State>(came)));
        }
        for (std::size_t came = 0; came < model.states(); ++came) {
            terms_[before << row_bits_ | came] = {part_of(row, came, score), whole_of(row, score)};
        }
    }
    for (const Terms& terms : terms_) margins_.push_back(terms.part - threshold * terms.whole);
}

double Scorer::score_of(Transitions last) const noexcept {
    double part = 0;
    double whole = 0;
    for (std::size_t i = 0; i + 1 < records; ++i) {
        const Terms& terms = terms_[transition(last, i)];
        part += terms.part;
        whole += terms.whole;
    }
    return part / whole;
}

}  // namespace strid::apps::fraud_detection
