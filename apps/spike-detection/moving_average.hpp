// SPDX-License-Identifier: Apache-2.0
//
// The mean of the last `window` values of one device. Held per key, so its values are in memory of
// their own: the table that holds it may move it cheaply.
//
// The law: sum + compensation is the sum of the values in the ring. Both additions of a step keep
// what rounding cut off (Knuth's two-sum), so the error does not grow with the number of readings:
// after any number of them the mean is as good as one computed afresh.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
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
        if (values_.size() == window_) [[likely]] {
            double& place = values_[next_];
            add(-place);
            place = reading.value;
            if (++next_ == window_) [[unlikely]]
                begin_round();
        } else {
            grow(reading.value);
        }
        add(reading.value);
        return {reading.device, reading.value, (sum_ + compensation_) / count_};
    }

  private:
    void add(double value) noexcept {
        const double sum = sum_ + value;
        const double added = sum - sum_;
        compensation_ += (sum_ - (sum - added)) + (value - added);
        sum_ = sum;
    }

    [[gnu::noinline]] void grow(double value) {
        if (values_.empty()) values_.reserve(window_);
        values_.push_back(value);
        count_ = static_cast<double>(values_.size());
    }

    [[gnu::noinline]] void begin_round() noexcept {
        next_ = 0;
        if (std::isfinite(sum_) && std::isfinite(compensation_)) return;
        // Values near the largest number overflowed the sum. They may have left the window since.
        // The newest value, which stands in the last place, is added by the caller.
        sum_ = std::accumulate(values_.begin(), values_.end() - 1, 0.0);
        compensation_ = 0;
    }

    std::vector<double> values_;  // a ring once it is full; next_ is the oldest
    std::size_t window_;
    std::size_t next_ = 0;
    double sum_ = 0;
    double compensation_ = 0;
    double count_ = 0;  // of values_
};

}  // namespace strid::apps::spike_detection
