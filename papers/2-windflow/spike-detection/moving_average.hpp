// SPDX-License-Identifier: Apache-2.0
//
// The mean of the last `window` values of one device. Held per key, so its values are in memory of
// their own: the table that holds it may move it cheaply.
//
// Invariant: sum_ is the sum of the values in the ring, except for the rounding of at most two
// rounds of additions. It is computed anew once per round of the ring, so an error does not grow
// with the number of readings. It is also computed anew when a value leaves that was far larger
// than the rest, because its rounding error would stay.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace strid::apps::spike_detection {

struct Reading {
    std::uint64_t device;
    double value;
};

struct Scored {
    std::uint64_t device;
    double value;
    double mean;  ///< of the last readings of the device, this one included
};

class MovingAverage {
  public:
    explicit MovingAverage(std::size_t window) : window_(window) {}

    Scored operator()(const Reading& reading) {
        double sum = 0;  // a local, so that the mean need not wait for it to be stored
        if (values_.size() == window_) [[likely]] {
            const double oldest = std::exchange(values_[next_], reading.value);
            if (++next_ == window_) [[unlikely]]
                next_ = 0;
            sum = sum_ + (reading.value - oldest);
            if (next_ == 0 || std::abs(oldest) > cancellation * std::abs(sum)) [[unlikely]]
                sum = added_up();
        } else {
            sum = grow(reading.value);
        }
        sum_ = sum;
        return {reading.device, reading.value, sum * share_};
    }
    auto state() { return std::tie(values_, next_, sum_, share_); }

  private:
    /// How much larger than the sum a value is whose rounding would show in it.
    static constexpr double cancellation = 256;

    [[gnu::noinline]] double added_up() const noexcept {
        return std::reduce(values_.begin(), values_.end());
    }

    /// The sum with the value.
    [[gnu::noinline]] double grow(double value) {
        if (values_.empty()) values_.reserve(window_);
        values_.push_back(value);
        share_ = 1 / static_cast<double>(values_.size());
        return sum_ + value;
    }

    std::vector<double> values_;  // a ring once it is full; next_ is the oldest
    std::size_t window_;
    std::size_t next_ = 0;
    double sum_ = 0;
    double share_ = 0;  // of one value in the mean: a division per change of size, not per reading
};

}  // namespace strid::apps::spike_detection
