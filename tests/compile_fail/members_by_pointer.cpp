// SPDX-License-Identifier: Apache-2.0
//
// A member of a record as a pointer, which is known only when the program runs, in the places of a
// key, a time, a field and a tie: the first line says how a member is named.
// error: a member of a record is named when the program is compiled: field<&Record::x>
// error: a member of a record is named when the program is compiled: field<&Record::x>
// error: a member of a record is named when the program is compiled: field<&Record::x>
// error: a member of a record is named when the program is compiled: field<&Record::x>
#include <strid/stream/graph.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/quantile.hpp>

#include "numbers.hpp"

using namespace strid;

struct Bid {
    int item;
    EventTime time;
    double price;
    std::uint32_t number;
};

void build(Graph& graph) {
    const auto bids = [&graph] {
        return graph.source(Numbers{}).map([](int number) { return Bid{number, {}, 1, 0}; });
    };
#ifdef STRID_MUST_NOT_COMPILE
    (void)bids().key_by(&Bid::item);
    (void)bids().event_time(&Bid::time, MonotonousTime{});
    (void)window::quantile(&Bid::price, 0.5);
    (void)window::sum(&Bid::number);
#else
    (void)bids().key_by<&Bid::item>();
    (void)bids().event_time(field<&Bid::time>, MonotonousTime{});
    (void)window::quantile(field<&Bid::price>, 0.5);
    (void)window::sum<&Bid::number>();
#endif
}
