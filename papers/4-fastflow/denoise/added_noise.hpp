// SPDX-License-Identifier: Apache-2.0
//
// Salt-and-pepper noise to test with. A function without state; any thread.
//
// Invariant: what becomes of a sample depends on the seed, the number of the frame, the plane and
// the place of the sample only, so that noise is the same in any order.
#pragma once

#include <cstdint>

#include "loop.hpp"
#include "picture.hpp"

namespace strid::denoise {

struct AddedNoise {
    double share = 0.5;  ///< Of all samples, 0 to 1; half of it is 0, half is the largest value.
    std::uint64_t seed = 1;
};

/// Of planes that are not kept; each plane has noise of its own.
void add_noise(Picture& picture, const AddedNoise& noise, std::uint64_t frame, const Loop& loop);

}  // namespace strid::denoise
