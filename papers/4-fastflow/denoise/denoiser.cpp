// SPDX-License-Identifier: Apache-2.0
#include "denoiser.hpp"

#include <algorithm>

namespace strid::denoise {

namespace {

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
        const NoiseMap map = detect_noise(plane, picture.sample_max, options.largest_window, loop);
        Restoration done;
        if (options.detect_only) {
            show(map, picture.sample_max, plane);
        } else {
            done = restore(plane, picture.sample_max, map, options.restoration, loop);
        }
        reports.push_back({plane.samples.size(), map.count, done});
    }
    return reports;
}

}  // namespace strid::denoise
