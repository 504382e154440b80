// SPDX-License-Identifier: Apache-2.0
//
// Transactions that are made instead of read, the same for the same seed: 1,000 accounts, each as
// often as any other. The states of an account follow each other as the model says, but one in 50
// is drawn from all states alike: those are what there is to find. Transactions are named by
// 10,000 names in turn.
//
// A state depends on the one before it, so one replica makes them all. One thread at a time;
// fraction_done() by any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include <strid/connector/pace.hpp>
#include <strid/connector/random.hpp>
#include <strid/memory/text_arena.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/source.hpp>

#include "markov_model.hpp"
#include "transaction_source.hpp"

namespace strid::apps::fraud_detection {

class TransactionGenerator {
  public:
    using record_type = Transaction;
    static constexpr SourceTraits traits{.hears = events<Opened>,
                                         .has = Has::fraction_done | Has::replicas_used};
    static constexpr std::size_t accounts = 1'000;
    static constexpr std::size_t transaction_names = 10'000;
    static constexpr std::uint64_t records_per_stray = 50;

    TransactionGenerator(std::uint64_t count, std::uint64_t seed,
                         std::shared_ptr<const MarkovModel> model);

    void on(const Opened& opened);
    [[nodiscard]] static std::size_t replicas_used(std::size_t /*replicas*/) noexcept { return 1; }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        emit.keep_alive(names_);
        for (; budget > 0 && made_ != count_; --budget) {
            if (!emit(next())) break;
        }
        fraction_done_.store(
            count_ == 0 ? 1 : static_cast<double>(made_) / static_cast<double>(count_));
        return made_ == count_ ? SourceStatus::finished : SourceStatus::more;
    }
    [[nodiscard]] double fraction_done() const noexcept { return fraction_done_.load(); }
    auto state() { return std::tie(before_, made_); }

  private:
    void make_names();
    [[nodiscard]] Transaction next() noexcept;
    [[nodiscard]] MarkovModel::State draw(const double* cumulative, double share) const noexcept;

    std::uint64_t count_;
    std::uint64_t asked_for_;
    std::uint64_t seed_;
    std::size_t states_;
    std::vector<double> cumulative_;          // of the probabilities, row by row
    std::vector<MarkovModel::State> before_;  // by account
    memory::TextReference names_;             // of accounts, then of transactions
    std::vector<std::string_view> account_names_;
    std::vector<std::string_view> transaction_names_;
    std::uint64_t made_ = 0;
    SharedFraction fraction_done_;
};

}  // namespace strid::apps::fraud_detection
