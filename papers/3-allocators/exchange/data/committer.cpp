// SPDX-License-Identifier: Apache-2.0
#include "data/committer.hpp"

#include <utility>

#include <strid/base/error.hpp>

namespace strid::exchange {

void Committer::on(const Opened& opened) {
    transactions_ = opened.context.counter("transactions");
    reports_ = opened.context.counter("reports");
    trades_ = opened.context.counter("trades");
}

void Committer::operator()(Matched&& matched) {
    if (matched.number == 0) return;  // a book was restored
    const CommandNumber number = matched.number;
    early_.emplace(number, std::move(matched));
    for (auto next = early_.begin();
         next != early_.end() && next->first == journal_->next_command();
         next = early_.erase(next)) {
        trades_.add(next->second.outcome.trades.size());
        journal_->add(std::move(next->second));
        if (journal_->waiting() == commands_max_) commit();
    }
}

void Committer::on(Flush) {
    if (journal_->waiting() != 0) commit();
}

void Committer::on(Closed) {
    on(Flush{});
    if (!early_.empty()) throw InputOutputError("a command was lost on its way to the journal");
}

void Committer::commit() {
    // Relaxed: only the number is published; the reports themselves are in the journal.
    Committed committed = journal_->commit(progress_->acknowledged.load(std::memory_order_relaxed));
    transactions_.add(1);
    reports_.add(committed.reports.size());
    // Each pairs with the loads of the link and the sender.
    progress_->deleted_reports.store(journal_->acknowledged(), std::memory_order_release);
    progress_->last_report.store(journal_->last_report(), std::memory_order_release);
    sender_->publish(std::move(committed));
}

}  // namespace strid::exchange
