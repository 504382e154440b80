// SPDX-License-Identifier: Apache-2.0
//
// Streams, keys, bounds, functions and ways that joins cannot take: the first line states what
// is required.
// error: a stream is consumed once
// error: a stream is consumed once
// error: join, as_of and connect consume their streams
// error: join, as_of and connect take two streams; on(...) gives their keys
// error: two streams are joined by on<&Left::key, &Right::key>()
// error: a key needs a member of the records T that arrive
// error: two streams are joined by keys of one type
// error: it is not known when these records happened: give event_time before, or timed_by
// error: a join needs an interval of time
// error: a join needs a function of a left and a right record
// error: a join is by key or share::farmed
// error: ties_by is for as_of
// error: ties_by needs a member of the right records
// error: as_of needs a function of a left record and the right one that it meets
// error: an as-of join is by key
#include <string>
#include <utility>

#include <strid/stream/graph.hpp>

#include "numbers.hpp"

using namespace strid;

struct Bid {
    int item;
    EventTime time;
};
struct Ask {
    int item;
    std::string seller;
    EventTime time;
};

constexpr auto match = [](const Bid& bid, const Ask& ask) { return bid.item + ask.item; };
[[maybe_unused]] constexpr auto bid_alone = [](const Bid& bid) { return bid.item; };

void build(Graph& graph) {
    const auto bids = [&graph] {
        return graph.source(Numbers{})
            .map([](int number) {
                return Bid{number, {}};
            })
            .event_time<&Bid::time>(MonotonousTime{});
    };
    const auto timeless = [&graph] {
        return graph.source(Numbers{}).map([](int number) { return Ask{number, "seller", {}}; });
    };
    const auto asks = [&timeless] { return timeless().event_time<&Ask::time>(MonotonousTime{}); };
    constexpr auto items = on<&Bid::item, &Ask::item>();
    constexpr auto soon = within(Duration{0}, Duration{10});
    auto some = bids();
    auto others = asks();
#ifdef STRID_MUST_NOT_COMPILE
    some.join(asks(), items, soon, match, {.kind = JoinKind::inner});
    some.as_of(asks(), items, match);
    bids().join(others, items, soon, match);
    bids().join(asks().key_by<&Ask::item>(), items, soon, match);
    bids().join(asks(), &Bid::item, soon, match);
    bids().join(asks(), on<&Bid::item, &Bid::item>(), soon, match);
    bids().join(asks(), on<&Bid::item, &Ask::seller>(), soon, match);
    bids().join(timeless(), items, soon, match);
    bids().join(asks(), items, window::CountWindows::tumbling(10), match);
    bids().join(asks(), items, soon, bid_alone);
    bids().join(asks(), items, soon, match, share::paned);
    bids().join(asks(), items.ties_by<&Ask::seller>(), soon, match);
    bids().as_of(asks(), items.ties_by<&Bid::item>(), match);
    bids().as_of(asks(), items, bid_alone);
    bids().as_of(asks(), items, match, share::farmed);
#else
    std::move(some).join(std::move(others), items, soon, match, {.kind = JoinKind::inner});
    bids().join(timeless().timed_by<&Ask::time>(), items,
                window::TimeWindows::tumbling(Duration{9}), match, share::farmed);
    bids().as_of(asks(), items.ties_by<&Ask::seller>(), match);
#endif
}
