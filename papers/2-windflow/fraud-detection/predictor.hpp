// SPDX-License-Identifier: Apache-2.0
//
// Scores the sequence of the last states of one account: how unlikely it is under the model.
//
// A Scorer is immutable and shared by all accounts; a Predictor is the state of one account, small
// and in place. Any thread may ask a Scorer; one thread at a time a Predictor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
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

/// The last four transitions between the states of an account, 16 bits each, the newest in the
/// lowest: what a Scorer looks up, so that a score takes no arithmetic on states.
using Transitions = std::uint64_t;

/// Each score is a sum of parts over the transitions, over a sum of wholes.
class Scorer {
  public:
    /// Records that a score is over.
    static constexpr std::size_t records = 5;

    Scorer(const MarkovModel& model, Score score, double threshold);

    /// The transitions with the one to `state` as the newest. The first state of an account has no
    /// transition; what stands in its place has left before it could count.
    [[nodiscard]] Transitions advance(Transitions last, MarkovModel::State state) const noexcept {
        return last << transition_bits | (last & row_mask_) << row_bits_ | state;
    }

    /// Calls `report(score)` where the score exceeds the threshold.
    template <class Report>
    void score(Transitions last, Report&& report) const {
        double margin = 0;
        for (std::size_t i = 0; i + 1 < records; ++i) margin += margins_[transition(last, i)];
        if (margin < -margin_slack) [[likely]]
            return;
        const double score = score_of(last);  // 0 / 0 is not a number and exceeds nothing
        if (score > threshold_) report(score);
    }

  private:
    /// More than rounding can add to a sum of margins: the division decides what is closer.
    static constexpr double margin_slack = 1e-9;

    struct Terms {
        double part = 0;
        double whole = 0;
    };

    static constexpr unsigned transition_bits = 16;

    /// Index of the i-th newest transition.
    [[nodiscard]] static std::size_t transition(Transitions last, std::size_t i) noexcept {
        return last >> (transition_bits * i) & 0xffff;
    }
    [[nodiscard]] double score_of(Transitions last) const noexcept;

    double threshold_;
    unsigned row_bits_;
    Transitions row_mask_;
    std::vector<Terms> terms_;     // by state before, then by state that came
    std::vector<double> margins_;  // part - threshold * whole of the same transitions
};

/// The last states of one account.
class Predictor {
  public:
    explicit Predictor(std::shared_ptr<const Scorer> scorer) : scorer_(std::move(scorer)) {}

    template <class Emit>
    void operator()(const Transaction& transaction, Emit& emit) {
        last_ = scorer_->advance(last_, transaction.state);
        if (known_ < Scorer::records && ++known_ < Scorer::records) return;
        scorer_->score(last_, [&](double score) {
            emit(Outlier{transaction.account, transaction.transaction, score});
        });
    }
    auto state() { return std::tie(last_, known_); }

  private:
    std::shared_ptr<const Scorer> scorer_;
    Transitions last_ = 0;
    std::uint32_t known_ = 0;  // records, up to Scorer::records
};

}  // namespace strid::apps::fraud_detection
