// SPDX-License-Identifier: Apache-2.0
#include "transaction_generator.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace strid::apps::fraud_detection {

TransactionGenerator::TransactionGenerator(std::uint64_t count, std::uint64_t seed,
                                           std::shared_ptr<const MarkovModel> model)
    : count_(count), asked_for_(count), seed_(seed), states_(model->states()) {
    for (std::size_t row = 0; row < states_; ++row) {
        double sum = 0;
        for (std::size_t came = 0; came < states_; ++came) {
            sum += model->probability(static_cast<MarkovModel::State>(row),
                                      static_cast<MarkovModel::State>(came));
            cumulative_.push_back(sum);
        }
    }
}

void TransactionGenerator::on(const Opened& opened) {
    count_ = opened.context.replica == 0 ? asked_for_ : 0;
    made_ = 0;
    before_.assign(accounts, 0);
    make_names();
}

void TransactionGenerator::make_names() {
    std::string text;
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < accounts; ++i) {
        text += "account" + std::to_string(i);
        ends.push_back(text.size());
    }
    for (std::size_t i = 0; i < transaction_names; ++i) {
        text += 't' + std::to_string(i);
        ends.push_back(text.size());
    }
    memory::TextPool pool(1, 1);
    names_ = pool.lease_large(text.size());
    std::memcpy(names_->bytes().data(), text.data(), text.size());
    const std::string_view all(names_->bytes().data(), text.size());
    account_names_.clear();
    transaction_names_.clear();
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
        auto& names = account_names_.size() < accounts ? account_names_ : transaction_names_;
        names.push_back(all.substr(begin, end - begin));
        begin = end;
    }
}

Transaction TransactionGenerator::next() noexcept {
    Random random(seed_, made_);
    const std::uint64_t account = random.below(accounts);
    const bool strays = random.below(records_per_stray) == 0;
    MarkovModel::State& state = before_[account];
    state = strays ? static_cast<MarkovModel::State>(random.below(states_))
                   : draw(&cumulative_[state * states_], random.uniform());
    return {account_names_[account], transaction_names_[made_++ % transaction_names], state};
}

MarkovModel::State TransactionGenerator::draw(const double* cumulative,
                                              double share) const noexcept {
    // A row may add up to a little less than one, but for rounding.
    const double* const end = cumulative + states_ - 1;
    return static_cast<MarkovModel::State>(
        std::upper_bound(cumulative, end, share * cumulative[states_ - 1]) - cumulative);
}

}  // namespace strid::apps::fraud_detection
