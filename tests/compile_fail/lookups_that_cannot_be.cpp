// SPDX-License-Identifier: Apache-2.0
//
// Functions and keys that a lookup cannot take: the first line states what is required.
// error: a stream is consumed once
// error: lookup needs a function of the records T that arrive, which says what is looked up
// error: the looked-up key is not of the type of the table's keys
// error: the looked-up key is not of the type of the table's keys
// error: lookup needs a function F of a record and of what the table has for it
// error: with missing_apart, combine takes a const Value&
#include <string>
#include <utility>

#include <strid/stream/graph.hpp>

#include "numbers.hpp"

using namespace strid;

struct Bid {
    int item;
    std::string name;
};

constexpr auto item_of = [](const Bid& bid) { return bid.item; };
constexpr auto set_name = [](Bid& bid, const std::string& name) { bid.name = name; };
constexpr auto set_any_name = [](Bid& bid, const std::string* name) {
    if (name != nullptr) bid.name = *name;
};

void build(Graph& graph) {
    const auto bids = [&graph] {
        return graph.source(Numbers{}).map([](int number) { return Bid{number, ""}; });
    };
    const LookupTable<int, std::string> names;
    auto some = bids();
#ifdef STRID_MUST_NOT_COMPILE
    some.lookup(names, item_of, set_name);
    bids().lookup(
        names, [](const std::string& text) { return text; }, set_name);
    bids().lookup(
        names, [](const Bid& bid) { return static_cast<long>(bid.item); }, set_name);
    bids().lookup(
        names, [](const Bid& bid) { return bid.name; }, set_name);
    bids().lookup(names, item_of, [](Bid& bid, int) { bid.name = ""; });
    bids().lookup(names, item_of, set_any_name, missing_apart);
#else
    std::move(some).lookup(names, item_of, set_name).sink([](const Bid&) {});
    bids().lookup(names, field<&Bid::item>, set_any_name, {.name = "names"}).sink([](const Bid&) {
    });
    auto [found, missing] = bids().lookup(names, field<&Bid::item>, set_name, missing_apart);
    std::move(found).sink([](const Bid&) {});
    std::move(missing).sink([](const Bid&) {});
#endif
}
