// SPDX-License-Identifier: Apache-2.0
//
// How near a picture is to another one. Functions without state; any thread.
#pragma once

#include "loop.hpp"
#include "picture.hpp"

namespace strid::denoise {

/// The mean of the squared differences over all planes that are not kept, in sample units. Exact
/// but for the last division. Throws Error where the pictures have different shapes.
[[nodiscard]] double mean_squared_error(const Picture& picture, const Picture& reference,
                                        const Loop& loop);

/// 10 log10(sample_max^2 / mse), in dB; infinite for 0.
[[nodiscard]] double peak_signal_to_noise_ratio(double mse, unsigned sample_max);

}  // namespace strid::denoise
