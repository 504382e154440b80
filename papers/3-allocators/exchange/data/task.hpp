// SPDX-License-Identifier: Apache-2.0
//
// The records of the graph of the data manager, and its keyed operator.
//
// A command concerns one book, and a book is the state of one key: replicas match different symbols
// at once. Commands of one symbol stay in their order, because the link is one source; across
// symbols the journal puts them in order again (committer.hpp).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "data/messages.hpp"
#include "fix/message.hpp"
#include "matching/book.hpp"

namespace strid::exchange {

/// An identifier that a replacement has retired.
struct RetiredId {
    std::string user = {};
    std::string client_id = {};
};

/// The input of a book: a command of the link, or something that the journal has kept.
struct Task {
    std::string symbol = {};  ///< the book; empty: none, the command is to be refused
    std::variant<Command, Order, RetiredId, Subscription> content = {};
};

/// The changes by a command.
struct Matched {
    CommandNumber number = 0;  ///< 0: nothing; a book was restored
    std::string user = {};
    std::string symbol = {};
    Outcome outcome = {};  ///< without its reports, which are in `reports`
    std::vector<fix::Message> reports = {};
};

/// The symbols that are traded.
class Listing {
  public:
    /// Every symbol.
    Listing() = default;
    explicit Listing(std::set<std::string> symbols)
        : symbols_(std::move(symbols)), is_open_(false) {}

    /// Why the symbol is not traded; empty where it is.
    [[nodiscard]] std::string refusal(const std::string& symbol) const {
        std::string fault = fault_of_symbol(symbol);
        if (fault.empty() && !is_open_ && !symbols_.contains(symbol)) fault = "unknown symbol";
        return fault;
    }

  private:
    std::set<std::string> symbols_;
    bool is_open_ = true;
};

/// The book of one key as a function: behind `key_by<&Task::symbol>()` each key has a copy.
class MatchSymbol {
  public:
    explicit MatchSymbol(std::shared_ptr<const Listing> listing) : listing_(std::move(listing)) {}
    /// Of the prototype: another key begins with an empty book.
    MatchSymbol(const MatchSymbol& other) : listing_(other.listing_) {}
    MatchSymbol(MatchSymbol&&) = default;
    MatchSymbol& operator=(const MatchSymbol&) = delete;
    MatchSymbol& operator=(MatchSymbol&&) = default;
    ~MatchSymbol() = default;

    Matched operator()(Task&& task);
    auto state() { return std::tie(book_); }

  private:
    Matched carry_out(const Command& command, const std::string& symbol);

    std::shared_ptr<const Listing> listing_;
    Book book_;
};

}  // namespace strid::exchange
