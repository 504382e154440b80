// SPDX-License-Identifier: Apache-2.0
//
// Phase 2: the noisy samples get the values that minimise an edge-preserving functional (Chan, Ho
// and Nikolova 2005), the others stay as they are:
//
//     F(u) = sum of phi(u_p - u_q) over pairs of neighbours p, q with a noisy one among them
//          + fidelity * sum of |u_p - y_p| over noisy p,        phi(t) = sqrt(t^2 + edge)
//
// Neighbours are above, left, right and below; y is what was read; values are in grey levels, 0 to
// 255 at any depth. The second term holds a sample near the noise and is 0 by default (Cai, Chan
// and Di Fiore 2007 show that phase 1 makes it needless).
//
// One iteration moves each noisy sample towards the minimum of the quadratic function that touches
// F there from above, and `relaxation` times as far: first the samples of the one colour of a
// chessboard, then those of the other one. Neighbours are of different colours, so that the samples
// of a colour can be computed in any order and at once.
//
// Invariants: F never grows, for a relaxation between 0 and 2; all results are the same to the last
// bit in any order of the blocks, on any processor (the change is summed in integers).
#pragma once

#include <cstddef>

#include "loop.hpp"
#include "noise_detection.hpp"
#include "picture.hpp"

namespace strid::denoise {

struct RestorationOptions {
    double edge = 100;  ///< Differences much larger than its root count as edges.
    double fidelity = 0;
    double relaxation = 1.5;  ///< Between 0 and 2.
    /// Ends when an iteration changes a noisy sample by less than this on average, in grey levels;
    /// 0: never.
    double tolerance = 0.01;
    std::size_t iterations_max = 1'000;
};

struct Restoration {
    std::size_t iterations = 0;
    double change = 0;  ///< Of the last iteration: mean over the noisy samples, in grey levels.
    bool converged = true;
};

/// Memory: 4 bytes a sample and 4 a noisy sample.
Restoration restore(Plane& plane, unsigned sample_max, const NoiseMap& map,
                    const RestorationOptions& options, const Loop& loop);

}  // namespace strid::denoise
