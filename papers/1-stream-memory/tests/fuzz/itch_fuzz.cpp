// SPDX-License-Identifier: Apache-2.0
//
// Messages of TotalView-ITCH, each behind its length in one byte. Invariant: a message is refused
// with a sentence, or a quote of it has a named symbol, a time of the day, and on each side a price
// and a size or neither.
#include <algorithm>
#include <memory>
#include <string>

#include "../../trading/itch_feed.hpp"
#include "tests/support/fuzzing.hpp"

namespace strid::apps::trading {
namespace {

void check(const Quote& quote, const Market& market) {
    constexpr std::int64_t day_ns = 86'400'000'000'000;
    fuzz::require(!market.name_of(quote.symbol).empty());
    fuzz::require(quote.time.ns() >= 0 && quote.time.ns() < day_ns);
    fuzz::require((quote.bid > 0) == (quote.bid_volume > 0) && quote.bid >= 0);
    fuzz::require((quote.ask > 0) == (quote.ask_volume > 0) && quote.ask >= 0);
    fuzz::require(quote.bid_volume <= size_max && quote.ask_volume <= size_max);
}

void take_all(std::string_view text) {
    const auto market = std::make_shared<Market>(itch_decimals, 1);
    ItchFeed feed(market);
    std::string fault;
    while (text.size() > 1) {
        const std::size_t length =
            std::clamp<std::size_t>(static_cast<unsigned char>(text[0]), 1, text.size() - 1);
        Quote quote{};
        const ItchFeed::Outcome outcome = feed.take(text.substr(1, length), quote, fault);
        fuzz::require((outcome == ItchFeed::Outcome::refused) == !fault.empty());
        if (outcome == ItchFeed::Outcome::quote) check(quote, *market);
        text.remove_prefix(1 + length);
    }
}

}  // namespace
}  // namespace strid::apps::trading

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    strid::apps::trading::take_all(strid::fuzz::text_of(data, size));
    return 0;
}
