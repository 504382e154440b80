// SPDX-License-Identifier: Apache-2.0
//
// Which fields of a request the exchange can follow. An order with a field that would change how it
// is handled, and that the exchange does not know, is refused: it is never carried out without it.
// Pure functions; any thread.
#pragma once

#include <string>

#include "fix/message.hpp"

namespace strid::exchange {

/// The first field of an order, a cancel or a replacement that is neither read by the exchange nor
/// information that changes nothing, in the order of the message; or empty. A text for people.
[[nodiscard]] std::string fault_of_instructions(const fix::Message& message);

/// Of a MarketDataRequest: MDReqRejReason (281) and a text, both empty where it can be followed.
struct MarketDataFault {
    char reason = '\0';
    std::string text = {};
};
[[nodiscard]] MarketDataFault fault_of_market_data(const fix::Message& message);

}  // namespace strid::exchange
