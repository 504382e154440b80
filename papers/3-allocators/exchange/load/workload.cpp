// SPDX-License-Identifier: Apache-2.0
#include "load/workload.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace strid::exchange::load {

namespace {

constexpr std::int64_t lot = 100;
constexpr std::size_t open_max = 64;

/// Both sessions of a pair draw the same numbers.
std::uint64_t seed_of(Kind kind, std::uint64_t seed, std::size_t session) {
    const std::uint64_t stream = kind == Kind::w1 ? session / 2 : session;
    return (seed + 1) * 0x9e3779b97f4a7c15U ^ (stream + 1) * 0xbf58476d1ce4e5b9U;
}

/// Arrivals up to a part of the day: the integral of 1 + 3 exp(-t/0.08) + 2 exp(-(1-t)/0.08).
double arrived(double part) {
    constexpr double width = 0.08;
    return part + 3 * width * (1 - std::exp(-part / width)) +
           2 * width * (std::exp(-(1 - part) / width) - std::exp(-1 / width));
}

}  // namespace

Trader::Trader(Kind kind, std::uint64_t seed, std::size_t session, Market& market)
    : kind_(kind),
      side_(session % 2 == 0 ? '1' : '2'),
      market_(market),
      random_(seed_of(kind, seed, session)) {}

Request Trader::next() {
    if (kind_ == Kind::w1) return next_pair();
    const std::uint64_t draw = below(100);
    const bool is_full = open_.size() >= open_max;
    if (!open_.empty() && (draw < 15 || is_full)) return change('F');
    if (!open_.empty() && draw < 35) return change('G');
    return next_order();
}

Request Trader::next_pair() {
    Request request;
    request.symbol = below(market_.symbols());
    request.side = side_;
    request.quantity = lot * static_cast<std::int64_t>(1 + below(5));
    request.price_cents = 5'000 + static_cast<std::int64_t>(request.symbol % 10) * 1'000;
    return request;
}

Request Trader::next_order() {
    Request request;
    request.symbol = below(market_.symbols());
    request.side = below(2) == 0 ? '1' : '2';
    request.quantity = lot * static_cast<std::int64_t>(1 + below(10));
    if (below(10) == 0) return request;  // at any price
    // Some cents behind the last price, sometimes across it.
    const auto behind = static_cast<std::int64_t>(below(12)) - 3;
    const std::int64_t last = market_.last_cents(request.symbol);
    request.price_cents =
        std::max<std::int64_t>(last + (request.side == '1' ? -behind : behind), 1);
    return request;
}

Request Trader::change(char type) {
    const Open& chosen = open_[below(open_.size())];
    Request request = chosen.request;
    request.type = type;
    request.original = chosen.cl_ord_id;
    if (type == 'G') {
        const auto behind = static_cast<std::int64_t>(below(6));
        const std::int64_t last = market_.last_cents(request.symbol);
        request.price_cents =
            std::max<std::int64_t>(last + (request.side == '1' ? -behind : behind), 1);
    }
    // One change at a time: the answer says what it is called then.
    closed(std::string(request.original));
    return request;
}

void Trader::opened(const std::string& cl_ord_id, const Request& request) {
    if (kind_ == Kind::w1 || places_.contains(cl_ord_id)) return;
    places_[cl_ord_id] = open_.size();
    open_.push_back({cl_ord_id, request});
}

void Trader::closed(const std::string& cl_ord_id) {
    const auto found = places_.find(cl_ord_id);
    if (found == places_.end()) return;
    const std::size_t place = found->second;
    places_.erase(found);
    if (place + 1 != open_.size()) {
        open_[place] = std::move(open_.back());
        places_[open_[place].cl_ord_id] = place;
    }
    open_.pop_back();
}

std::vector<std::int64_t> arrivals_ns(std::size_t count, double seconds, std::uint64_t seed) {
    // Of a Poisson process of which the number is known the times are independent.
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(0, arrived(1));
    std::vector<std::int64_t> times(count);
    for (std::int64_t& time : times) {
        const double wanted = uniform(random);
        double low = 0;
        double high = 1;
        for (int step = 0; step < 50; ++step) {
            const double middle = (low + high) / 2;
            (arrived(middle) < wanted ? low : high) = middle;
        }
        time = static_cast<std::int64_t>(low * seconds * 1e9);
    }
    std::sort(times.begin(), times.end());
    return times;
}

}  // namespace strid::exchange::load
