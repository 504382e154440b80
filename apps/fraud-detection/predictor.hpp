// SPDX-License-Identifier: Apache-2.0
//
// Scores the sequence of the last states of one account: how unlikely it is under the model.
//
// A Scorer is immutable and shared by all accounts; a Predictor is the state of one account, small
// and in place. Any thread may ask a Scorer; one thread at a time a Predictor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "markov_model.hpp"
#include "transaction_source.hpp"

namespace strid::apps::fraud_detection {

enum class Score : std::uint8_t {
    miss_probability,  ///< mean probability of all states but those that came
    miss_rate,         ///< share of transitions that did not go to the likeliest state
    entropy_reduction  ///< entropy without the terms of the states that came, over all of it
};

struct Outlier {
    std::string_view account;
    std::string_view transaction;
    double score;
};

/// Each score is a sum over transitions of `part`, divided by a sum of `whole`; both are tables.
class Scorer {
  public:
    Scorer(const MarkovModel& model, Score score, double threshold);

    [[nodiscard]] double part(MarkovModel::State before, MarkovModel::State came) const noexcept {
        return parts_[before * states_ + came];
    }
    [[nodiscard]] double whole(MarkovModel::State before) const noexcept { return wholes_[before]; }
    [[nodiscard]] double threshold() const noexcept { return threshold_; }

  private:
    std::size_t states_;
    double threshold_;
    std::vector<double> parts_;   // by state before, then by state that came
    std::vector<double> wholes_;  // by state before
};

class Predictor {
  public:
    /// Records that a score is over.
    static constexpr std::size_t records = 5;

    explicit Predictor(std::shared_ptr<const Scorer> scorer) : scorer_(std::move(scorer)) {}

    template <class Emit>
    void operator()(const Transaction& transaction, Emit& emit) {
        for (std::size_t i = 1; i < records; ++i) states_[i - 1] = states_[i];
        states_[records - 1] = transaction.state;
        if (known_ < records && ++known_ < records) return;
        double part = 0;
        double whole = 0;
        for (std::size_t i = 1; i < records; ++i) {
            part += scorer_->part(states_[i - 1], states_[i]);
            whole += scorer_->whole(states_[i - 1]);
        }
        const double score = part / whole;  // 0 / 0 is not a number and exceeds nothing
        if (score > scorer_->threshold()) {
            emit(Outlier{transaction.account, transaction.transaction, score});
        }
    }

  private:
    std::shared_ptr<const Scorer> scorer_;
    std::array<MarkovModel::State, records> states_{};  // oldest first
    std::uint8_t known_ = 0;
};

}  // namespace strid::apps::fraud_detection
