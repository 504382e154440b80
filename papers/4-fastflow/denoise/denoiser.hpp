// SPDX-License-Identifier: Apache-2.0
//
// Both phases over the planes of a picture. Functions without state; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "loop.hpp"
#include "noise_detection.hpp"
#include "picture.hpp"
#include "restoration.hpp"

namespace strid::denoise {

struct DenoiseOptions {
    unsigned largest_window = 39;  ///< Of phase 1: 39 is for 90 % of noise (Chan, Ho, Nikolova).
    RestorationOptions restoration = {};
    /// Phase 1 only: noise becomes the largest value, all else 0.
    bool detect_only = false;
    /// Also cleans a plane of the smallest and the largest value alone, a drawing in black and
    /// white: there the noise looks as what is drawn.
    bool force = false;
};

struct PlaneReport {
    std::size_t samples = 0;
    std::size_t noisy = 0;
    bool left_alone = false;  ///< A drawing in black and white.
    Restoration restoration = {};
};

/// Removes the noise from the planes that are not kept; one report for each.
std::vector<PlaneReport> remove_noise(Picture& picture, const DenoiseOptions& options,
                                      const Loop& loop);

}  // namespace strid::denoise
