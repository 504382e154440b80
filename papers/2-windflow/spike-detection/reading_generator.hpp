// SPDX-License-Identifier: Apache-2.0
//
// Readings that are made instead of read, the same for the same seed at any parallelism: 100
// devices, each as often as any other; values within a tenth of 20 plus the number of the device,
// but one in a thousand is 1.5 to 2.5 times as large.
#pragma once

#include <cstdint>

#include <strid/connector/generate.hpp>

#include "moving_average.hpp"

namespace strid::apps::spike_detection {

[[nodiscard]] inline auto generate_readings(std::uint64_t count, std::uint64_t seed) {
    return generate<Reading>(
        [](Random& random, std::uint64_t /*index*/) {
            constexpr std::uint64_t devices = 100;
            constexpr std::uint64_t readings_per_spike = 1000;
            const std::uint64_t device = 1 + random.below(devices);
            double value = (20 + static_cast<double>(device)) * (0.9 + 0.2 * random.uniform());
            if (random.below(readings_per_spike) == 0) value *= 1.5 + random.uniform();
            return Reading{device, value};
        },
        {.count = count, .seed = seed});
}

}  // namespace strid::apps::spike_detection
