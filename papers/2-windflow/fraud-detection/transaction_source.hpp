// SPDX-License-Identifier: Apache-2.0
//
// A source of transactions: rows of account,transaction,state with the state as the number that
// the model gives it. A state that the model does not name is a malformed row.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <strid/engine/base/excerpt.hpp>

#include "apps/common/checked_rows.hpp"
#include "markov_model.hpp"

namespace strid::apps::fraud_detection {

/// A row as it stands in the file.
struct TransactionRow {
    std::string_view account;
    std::string_view transaction;
    std::string_view state;
};

struct Transaction {
    std::string_view account;
    std::string_view transaction;
    MarkovModel::State state;
};

struct TransactionCheck {
    using Row = TransactionRow;
    using Record = Transaction;
    static constexpr bool points_to_text = true;

    std::shared_ptr<const MarkovModel> model;  ///< Without one every state is unknown.

    bool operator()(const TransactionRow& row, Transaction& transaction, std::string& fault) const {
        const auto number = model ? model->find(row.state) : std::nullopt;
        if (!number) {
            fault = fmt::format("unknown state '{}'", excerpt(row.state));
            return false;
        }
        transaction = {row.account, row.transaction, *number};
        return true;
    }
};

using TransactionSource = CheckedRows<TransactionCheck>;

}  // namespace strid::apps::fraud_detection
