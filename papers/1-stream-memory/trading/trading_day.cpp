// SPDX-License-Identifier: Apache-2.0
#include "trading_day.hpp"

#include <algorithm>
#include <cmath>

namespace strid::apps::trading {

namespace {

constexpr std::int64_t first_bid_min = 1'000;
constexpr std::uint64_t first_bid_range = 20'000;

/// The part that `shape` adds to the rate of noon at this moment of the day, as a factor.
double rush(const DayShape& shape, double seconds) {
    const double to_close = shape.length.count() - seconds;
    return shape.opening * std::exp(-seconds / shape.rush.count()) +
           shape.close * std::exp(-to_close / shape.rush.count());
}

/// The mean over the day of what multiplies the rate of noon.
double mean_factor(const DayShape& shape) {
    const double length = shape.length.count();
    const double decay = shape.rush.count();
    const double rushes =
        (shape.opening + shape.close) * decay * (1 - std::exp(-length / decay)) / length;
    const double share_of_bursts =
        shape.burst.count() / (shape.burst.count() + shape.between_bursts.count());
    // The factor of a burst is uniform between 1 and the largest.
    return (1 + rushes) * (1 + share_of_bursts * (shape.burst_factor - 1) / 2);
}

}  // namespace

TradingDay::TradingDay(DayShape shape, std::uint32_t symbols, std::uint64_t seed)
    : random_(seed, 0), prices_(symbols) {
    for (Price& price : prices_) {
        price.bid = first_bid_min + static_cast<std::int64_t>(random_.below(first_bid_range));
        price.spread = 1 + static_cast<std::int64_t>(random_.below(3));
    }
    begin(shape);
}

void TradingDay::begin(DayShape shape) {
    if (number_ != 0) {
        day_begin_ = day_begin_ + Duration{std::llround(now_seconds_ * 1e9 / shape_.acceleration)};
    }
    shape_ = shape;
    noon_ = shape.quotes / (shape.length.count() * mean_factor(shape));
    now_seconds_ = 0;
    burst_begin_ = draw_exponential(shape.between_bursts.count());
    burst_end_ = burst_begin_;
    factor_ = 1;
    rate_until_ = 0;
    cumulative_.clear();
    if (shape.zipf_exponent == 0) return;
    double sum = 0;
    for (std::size_t rank = 1; rank <= prices_.size(); ++rank) {
        sum += std::pow(static_cast<double>(rank), -shape.zipf_exponent);
        cumulative_.push_back(sum);
    }
}

double TradingDay::intensity(double seconds) const noexcept {
    return noon_ * (1 + rush(shape_, seconds));
}

bool TradingDay::next(Quote& quote) {
    advance();
    if (now_seconds_ >= shape_.length.count()) return false;
    quote.symbol = draw_symbol();
    quote.time = day_begin_ + Duration{std::llround(now_seconds_ * 1e9 / shape_.acceleration)};
    const std::uint64_t bits = random_();
    Price& price = prices_[quote.symbol];
    const std::int64_t step = static_cast<std::int64_t>(bits % 3) - 1;
    price.bid = std::max<std::int64_t>(price.bid + step, 1);
    quote.bid = price.bid;
    quote.ask = price.bid + price.spread;
    quote.bid_volume = 1 + static_cast<std::int64_t>(bits >> 8 & 63);
    quote.ask_volume = 1 + static_cast<std::int64_t>(bits >> 16 & 63);
    quote.exchange = bits >> 24 & 7;
    quote.number = number_++;
    return true;
}

/// Time moves on to the next quote: exponential gaps at the rate of the moment.
void TradingDay::advance() {
    while (now_seconds_ >= burst_end_ && now_seconds_ >= burst_begin_) {
        if (burst_end_ > burst_begin_) {  // one is over
            burst_begin_ = burst_end_ + draw_exponential(shape_.between_bursts.count());
            burst_end_ = burst_begin_;
            factor_ = 1;
        } else {
            burst_end_ = burst_begin_ + draw_exponential(shape_.burst.count());
            factor_ = 1 + (shape_.burst_factor - 1) * random_.uniform();
        }
    }
    if (now_seconds_ >= rate_until_) {  // the rush changes little in a second
        rate_ = intensity(now_seconds_);
        rate_until_ = now_seconds_ + 1;
    }
    now_seconds_ += draw_exponential(1 / (factor_ * rate_));
}

std::uint64_t TradingDay::draw_symbol() {
    if (cumulative_.empty()) return random_.below(prices_.size());
    const double share = random_.uniform() * cumulative_.back();
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), share);
    return static_cast<std::uint64_t>(found - cumulative_.begin());
}

double TradingDay::draw_exponential(double mean) {
    return -mean * std::log(1 - random_.uniform());
}

}  // namespace strid::apps::trading
