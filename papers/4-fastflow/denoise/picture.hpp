// SPDX-License-Identifier: Apache-2.0
//
// A picture in memory: planes of samples, whatever the file has. Plain values.
//
// Terms: a sample is one number of one plane; grey has one plane, RGB three, YUV 4:2:0 three of
// which the last two are smaller. A plane that is kept (alpha) is never changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "array.hpp"

namespace strid::denoise {

struct Plane {
    std::size_t width = 0;
    std::size_t height = 0;
    Array<std::uint16_t> samples = {};  ///< Row by row.
};

struct Picture {
    std::vector<Plane> planes = {};
    std::size_t kept_planes = 0;  ///< So many of the last ones: alpha.
    unsigned sample_max = 255;    ///< Samples are from 0 to this.

    [[nodiscard]] std::size_t changed_planes() const noexcept {
        return planes.size() - kept_planes;
    }
};

}  // namespace strid::denoise
