// SPDX-License-Identifier: Apache-2.0
//
// A request of a user to the exchange, with the texts of its FIX fields. The book checks them
// (book.hpp), so that a refusal can repeat what was sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strid::exchange {

/// The number of a command on the link between session manager and data manager: 1, 2, ...
using CommandNumber = std::uint64_t;

enum class CommandKind : char {
    new_order = 'D',
    cancel = 'F',
    replace = 'G',
    market_data = 'V',
    other = '?'  ///< of a type that the exchange does not know: `type` says which
};

/// Every text is empty where the field is missing.
struct Command {
    CommandKind kind = CommandKind::other;
    CommandNumber number = 0;
    std::string user = {};             ///< 49
    std::string symbol = {};           ///< 55
    std::string client_id = {};        ///< 11 ClOrdID
    std::string original_id = {};      ///< 41 OrigClOrdID
    std::string side = {};             ///< 54
    std::string quantity = {};         ///< 38
    std::string order_type = {};       ///< 40
    std::string price = {};            ///< 44
    std::string time_in_force = {};    ///< 59
    std::string request_id = {};       ///< 262 MDReqID
    std::string subscription = {};     ///< 263 SubscriptionRequestType
    std::string depth = {};            ///< 264 MarketDepth
    std::string type = {};             ///< 35
    std::string client_sequence = {};  ///< 45: the number of the client's message, if it was sent
    std::string unsupported = {};      ///< a field that the exchange cannot follow, for people
    char unsupported_reason = '\0';    ///< of market data: MDReqRejReason (281)
};

/// Whether a text is a valid name of a user, an order or a request: 1 to 64 characters of ASCII
/// that show, or spaces.
[[nodiscard]] inline bool is_identifier(std::string_view text) noexcept {
    constexpr std::size_t bytes_max = 64;
    return !text.empty() && text.size() <= bytes_max &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace strid::exchange
