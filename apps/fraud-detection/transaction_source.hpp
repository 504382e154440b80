// SPDX-License-Identifier: Apache-2.0
//
// A source of transactions: rows of account,transaction,state with the state as the number that
// the model gives it. A state that the model does not name is a malformed row. Threads as in
// FileSource.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <strid/connector/csv_file.hpp>

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

class TransactionSource : private CsvFile<TransactionRow> {
    using Rows = CsvFile<TransactionRow>;

  public:
    using record_type = Transaction;

    /// Without a model every state is unknown.
    TransactionSource(std::string path, CsvOptions options,
                      std::shared_ptr<const MarkovModel> model)
        : Rows(std::move(path), std::move(options)), model_(std::move(model)) {}

    using Rows::blocks;
    using Rows::bytes_read;
    using Rows::drains;
    using Rows::files;
    using Rows::fraction_done;
    using Rows::keep_all_text;
    using Rows::open;
    using Rows::replicas_used;
    using Rows::stop;
    using Rows::wake_at_ns;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        Numbering<Emit> numbering{*this, emit};
        return Rows::poll(numbering, budget);
    }

  private:
    /// What the rows are emitted to: passes them on with the numbers of their states.
    template <class Emit>
    struct Numbering {
        TransactionSource& source;
        Emit& emit;

        bool operator()(TransactionRow&& row) {
            const auto state = source.number_of(row);
            if (!state) return true;
            return emit(Transaction{row.account, row.transaction, *state});
        }
        void keep_alive(const memory::TextReference& chunk) { emit.keep_alive(chunk); }
        void born_at(std::int64_t ns) { emit.born_at(ns); }
        void count_malformed(std::uint64_t count) { emit.count_malformed(count); }
    };

    std::optional<MarkovModel::State> number_of(const TransactionRow& row) {
        auto number = model_ ? model_->find(row.state) : std::nullopt;
        if (!number) {
            const char* const end = row.state.data() + row.state.size();
            refuse(line_number_,
                   fmt::format("unknown state '{}'{}", excerpt(row.state),
                               line_number_ == 1 ? header_hint(row.state) : std::string{}),
                   {row.account.data(), static_cast<std::size_t>(end - row.account.data())});
        }
        return number;
    }

    std::shared_ptr<const MarkovModel> model_;
};

}  // namespace strid::apps::fraud_detection
