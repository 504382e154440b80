// SPDX-License-Identifier: Apache-2.0
#include "denoiser.hpp"

namespace strid::denoise {

std::vector<PlaneReport> remove_noise(Picture& picture, const DenoiseOptions& options,
                                      const Loop& loop) {
    std::vector<PlaneReport> reports;
    for (std::size_t i = 0; i < picture.changed_planes(); ++i) {
        Plane& plane = picture.planes[i];
        const NoiseMap map = detect_noise(plane, picture.sample_max, options.largest_window, loop);
        const Restoration done = restore(plane, picture.sample_max, map, options.restoration, loop);
        reports.push_back({plane.samples.size(), map.count, done});
    }
    return reports;
}

}  // namespace strid::denoise
