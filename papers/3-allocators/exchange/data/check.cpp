// SPDX-License-Identifier: Apache-2.0
#include "data/check.hpp"

#include <iterator>
#include <map>
#include <variant>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "data/database.hpp"
#include "data/recovery.hpp"
#include "matching/book.hpp"

namespace strid::exchange {

namespace {

void append_side(std::string& text, const std::string& symbol, const Levels& side) {
    for (const auto& [price, level] : side.levels()) {
        for (const Order* order : level.queue) {
            fmt::format_to(std::back_inserter(text), "order\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", symbol,
                           order->side == Side::buy ? "buy" : "sell", price_text(price),
                           order->open_quantity(), order->id, order->user, order->client_id);
        }
    }
}

std::map<std::string, Book> books_of(const Recovered& recovered) {
    std::map<std::string, Book> books;
    for (const Task& task : recovered.tasks) {
        Book& book = books[task.symbol];
        if (const auto* const order = std::get_if<Order>(&task.content)) {
            book.restore(*order);
        } else if (const auto* const retired = std::get_if<RetiredId>(&task.content)) {
            book.restore_retired(retired->user, retired->client_id);
        } else {
            book.restore(std::get<Subscription>(task.content));
        }
    }
    return books;
}

}  // namespace

std::string check_journal(const std::string& journal) {
    const auto database = open_database(journal, Opening::read, Sync::full);
    const Recovered recovered = recover(*database, Opening::read);
    const JournalState& state = recovered.state;
    std::string text = fmt::format("commands\t{}\nreports\t{}\nacknowledged\t{}\ntrades\t{}\n",
                                   state.command, state.report, state.acknowledged, state.trades);
    for (const auto& [symbol, book] : books_of(recovered)) {
        if (!book.is_valid()) {
            throw InputOutputError(
                fmt::format("{}: the journal is damaged: the orders in {} make no book",
                            database->name(), symbol));
        }
        append_side(text, symbol, book.bids());
        append_side(text, symbol, book.offers());
    }
    const auto append = [&text](const std::string& begin, const Position& position) {
        fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\n", begin, position.shares,
                       money_text(position.money));
    };
    for (const auto& [key, position] : recovered.holdings.positions()) {
        append(fmt::format("position\t{}\t{}", key.first, key.second), position);
    }
    for (const auto& [symbol, sum] : recovered.holdings.sums()) append("sum\t" + symbol, sum);
    return text;
}

}  // namespace strid::exchange
