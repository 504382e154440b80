// SPDX-License-Identifier: Apache-2.0
#include "data/task.hpp"

namespace strid::exchange {

Matched MatchSymbol::operator()(Task&& task) {
    if (const auto* const command = std::get_if<Command>(&task.content)) {
        return carry_out(*command, task.symbol);
    }
    if (const auto* const order = std::get_if<Order>(&task.content)) {
        book_.restore(*order);
    } else if (const auto* const retired = std::get_if<RetiredId>(&task.content)) {
        book_.restore_retired(retired->user, retired->client_id);
    } else {
        book_.restore(std::get<Subscription>(task.content));
    }
    return {};
}

Matched MatchSymbol::carry_out(const Command& command, const std::string& symbol) {
    Matched matched{.number = command.number, .user = command.user, .symbol = symbol};
    matched.outcome =
        symbol.empty() ? refuse(command, listing_->refusal(command.symbol)) : book_.apply(command);
    matched.reports = report_messages(command, matched.outcome);
    matched.outcome.reports.clear();
    return matched;
}

}  // namespace strid::exchange
