// SPDX-License-Identifier: Apache-2.0
//
// A PNG image as planes of samples, by libpng. A function without state; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "loop.hpp"
#include "picture.hpp"
#include "png_chunks.hpp"

namespace strid::denoise {

/// All forms of PNG: of 1 to 16 bits, interlaced ones, palettes (as RGB), with a transparent colour
/// (as alpha). Samples of 1, 2 and 4 bits become ones of 8. Alpha is a plane that is kept. Throws
/// ImageError for what is damaged or cut off, or has more pixels than `pixels_max`. One thread
/// decompresses; `loop` takes the planes apart.
[[nodiscard]] Picture read_png(std::string_view png, std::uint64_t pixels_max, const Loop& loop);

}  // namespace strid::denoise
