// SPDX-License-Identifier: Apache-2.0
//
// The end of both layouts: the notices of roads are written, charged or looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <strid/stream/graph.hpp>

#include "accounts.hpp"
#include "history.hpp"
#include "writers.hpp"

namespace strid::apps::linear_road {

/// The branches behind the roads.
enum Branch : std::size_t { notifications, accounts, history, branches };

struct ChooseBranch {
    Branch operator()(const Notice& notice) const noexcept {
        if (notice.kind <= Notice::Kind::accident) [[likely]]
            return notifications;
        return notice.kind == Notice::Kind::ask_expenditure ? history : accounts;
    }
};

inline std::int64_t paid_of(const Notice& question) noexcept {
    return question.amount;
}

inline Notice expenditure_of(const Notice& question, const std::int64_t* toll) noexcept {
    return {question.time, question.subject, toll == nullptr ? 0 : *toll, 0,
            Notice::Kind::expenditure};
}

/// A template, so that the streams' types stay: each is a boundary less.
template <class Notices>
void answer(Notices notices, const CurrentTable<HistoryTable>& tolls, const AnswerWriter& writer) {
    auto by_kind = std::move(notices).split(branches, ChooseBranch{});
    by_kind.select(notifications).sink(writer, {.name = "write"});
    by_kind.select(accounts)
        .template key_by<&Notice::subject>()
        .apply(Accounts{}, {.name = "accounts"})
        .sink(writer.beside(), {.name = "write-balances"});
    by_kind.select(history)
        .lookup(tolls, paid_of, expenditure_of, {.name = "history"})
        .sink(writer.beside(), {.name = "write-expenditures"});
}

}  // namespace strid::apps::linear_road
