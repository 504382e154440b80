// SPDX-License-Identifier: Apache-2.0
#include "denoiser.hpp"

#include <algorithm>

namespace strid::denoise {

namespace {

/// A plane of both the smallest and the largest value, and of no other.
bool is_black_and_white(const Plane& plane, unsigned sample_max) {
    const auto first = plane.samples.front();
    bool has_other = false;
    for (const std::uint16_t sample : plane.samples) {
        if (sample != 0 && sample != sample_max) return false;
        has_other = has_other || sample != first;
    }
    return has_other;
}

void show(const NoiseMap& map, unsigned sample_max, Plane& plane) {
    std::ranges::transform(map.noisy, plane.samples.begin(), [sample_max](std::uint8_t noisy) {
        return static_cast<std::uint16_t>(noisy * sample_max);
    });
}

}  // namespace

std::vector<PlaneReport> remove_noise(Picture& picture, const DenoiseOptions& options,
                                      const Loop& loop) {
    std::vector<PlaneReport> reports;
    for (std::size_t i = 0; i < picture.changed_planes(); ++i) {
        Plane& plane = picture.planes[i];
        if (!options.force && is_black_and_white(plane, picture.sample_max)) {
            if (options.detect_only) std::ranges::fill(plane.samples, std::uint16_t{0});
            reports.push_back({.samples = plane.samples.size(), .left_alone = true});
            continue;
        }
        const NoiseMap map = detect_noise(plane, picture.sample_max, options.largest_window, loop);
        Restoration done;
        if (options.detect_only) {
            show(map, picture.sample_max, plane);
        } else {
            done = restore(plane, picture.sample_max, map, options.restoration, loop);
        }
        reports.push_back({plane.samples.size(), map.count, false, done});
    }
    return reports;
}

}  // namespace strid::denoise
