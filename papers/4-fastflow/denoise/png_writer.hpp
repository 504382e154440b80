// SPDX-License-Identifier: Apache-2.0
//
// Planes of samples as a PNG image. libpng compresses an image as one stream by one thread; here
// its rows are filtered and compressed in parts that need not wait for each other, each with the
// 32 KiB before it as its dictionary, as pigz does. A function without state; any thread.
//
// Invariant: the bytes depend on the picture, the chunks and the level only.
#pragma once

#include <string>
#include <string_view>

#include "loop.hpp"
#include "picture.hpp"

namespace strid::denoise {

/// One plane is grey, two grey and alpha, three RGB, four RGB and alpha; 8 bits where `sample_max`
/// is 255, else 16. `chunks` stand before the image data; `level` is that of zlib, 0 to 9.
[[nodiscard]] std::string write_png(const Picture& picture, std::string_view chunks, int level,
                                    const Loop& loop);

}  // namespace strid::denoise
