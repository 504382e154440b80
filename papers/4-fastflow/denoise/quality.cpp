// SPDX-License-Identifier: Apache-2.0
#include "quality.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::denoise {

namespace {

constexpr std::size_t compared_at_once = 65'536;

std::uint64_t squared_error(const Plane& one, const Plane& other, const Loop& loop) {
    const std::size_t size = one.samples.size();
    std::vector<std::uint64_t> sums(size / compared_at_once + 1);
    for_parts(loop, size, compared_at_once, [&](std::size_t begin, std::size_t end) {
        std::uint64_t sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::int64_t difference = std::int64_t{one.samples[i]} - other.samples[i];
            sum += static_cast<std::uint64_t>(difference * difference);
        }
        sums[begin / compared_at_once] = sum;
    });
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

}  // namespace

double mean_squared_error(const Picture& picture, const Picture& reference, const Loop& loop) {
    if (picture.changed_planes() != reference.changed_planes()) {
        throw Error(fmt::format("it has {} colour planes and the reference {}",
                                picture.changed_planes(), reference.changed_planes()));
    }
    if (picture.sample_max != reference.sample_max) {
        throw Error(fmt::format("its samples are up to {} and those of the reference up to {}",
                                picture.sample_max, reference.sample_max));
    }
    std::uint64_t sum = 0;
    std::size_t samples = 0;
    for (std::size_t i = 0; i < picture.changed_planes(); ++i) {
        const Plane& one = picture.planes[i];
        const Plane& other = reference.planes[i];
        if (one.width != other.width || one.height != other.height) {
            throw Error(fmt::format("it is {}x{} and the reference {}x{}", one.width, one.height,
                                    other.width, other.height));
        }
        sum += squared_error(one, other, loop);
        samples += one.samples.size();
    }
    return static_cast<double>(sum) / static_cast<double>(samples);
}

double peak_signal_to_noise_ratio(double mse, unsigned sample_max) {
    if (mse == 0) return std::numeric_limits<double>::infinity();
    return 10 * std::log10(double{1} * sample_max * sample_max / mse);
}

}  // namespace strid::denoise
