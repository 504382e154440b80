// SPDX-License-Identifier: Apache-2.0
//
// Spike detection by hand: one thread, one table of windows, no engine. The record is 16 bytes in
// memory.
#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "replay.hpp"

namespace strid::bench::hand {

struct Reading {
    std::uint64_t device;
    double value;
};

struct Spike {
    std::uint64_t device;
    double value;
    double mean;
};

/// Reads `device,value` lines.
inline std::vector<Reading> load_readings(const std::string& path) {
    const std::string text = read_file(path);
    std::vector<Reading> readings;
    for (std::string_view line : split_lines(text)) {
        const auto device = parse_number<std::uint64_t>(next_field(line));
        readings.push_back({device, parse_number<double>(next_field(line))});
    }
    return readings;
}

/// The mean of the last 1,000 values by a running sum over a ring.
class MovingMean {
  public:
    static constexpr std::size_t window = 1000;

    double add(double value) noexcept {
        if (size_ == window) {
            sum_ -= values_[next_];
        } else {
            ++size_;
        }
        values_[next_] = value;
        sum_ += value;
        next_ = next_ + 1 == window ? 0 : next_ + 1;
        return sum_ / static_cast<double>(size_);
    }

  private:
    double sum_ = 0;
    std::uint32_t size_ = 0;
    std::uint32_t next_ = 0;
    std::array<double, window> values_;
};

class SpikeDetector {
  public:
    explicit SpikeDetector(double threshold = 0.25) : threshold_(threshold) {}

    /// Takes a reading in; spike(Spike) is called if it is one.
    template <class Report>
    void add(const Reading& reading, Report&& spike) {
        auto& window = windows_[reading.device];
        if (!window) window = std::make_unique<MovingMean>();
        const double mean = window->add(reading.value);
        if (std::abs(reading.value - mean) > threshold_ * mean) {
            spike(Spike{reading.device, reading.value, mean});
        }
    }

  private:
    double threshold_;
    boost::unordered_flat_map<std::uint64_t, std::unique_ptr<MovingMean>> windows_;
};

struct SpikeDetectionResult : ReplayResult {
    std::uint64_t spikes = 0;
    double checksum = 0;  // means of the spikes summed
};

inline SpikeDetectionResult run_spike_detection(const std::vector<Reading>& input,
                                                std::chrono::nanoseconds duration) {
    SpikeDetector detector;
    SpikeDetectionResult result;
    static_cast<ReplayResult&>(result) = replay(input, duration, [&](const Reading& reading) {
        detector.add(reading, [&](const Spike& spike) {
            keep_alive(spike);
            ++result.spikes;
            result.checksum += spike.mean;
        });
    });
    return result;
}

}  // namespace strid::bench::hand
