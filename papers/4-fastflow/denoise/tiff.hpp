// SPDX-License-Identifier: Apache-2.0
//
// TIFF images by libtiff; where the program was built without it, each function throws an
// ImageError that names it. Functions without state; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "image_metadata.hpp"
#include "loop.hpp"
#include "picture.hpp"

namespace strid::denoise {

/// Grey (also from white to black) and RGB of 8 and 16 bits, palettes of 8 bits and YCbCr in JPEG
/// as RGB; with one more channel, which is kept as alpha; in strips or tiles, of any compression
/// that libtiff has. Throws ImageError for any other, for several pages, for what is damaged or cut
/// off, and where the pixels, with those that tiles add, are too many for `pixels_max`.
[[nodiscard]] Picture read_tiff(std::string_view tiff, std::uint64_t pixels_max, const Loop& loop);

/// The colour profile, the resolution, the orientation, and whether alpha is multiplied.
[[nodiscard]] ImageMetadata metadata_of_tiff(std::string_view tiff);

/// In strips, compressed by deflate with `level` 1 to 9, or not (0); BigTIFF above 4 GB. Of
/// `metadata` without Exif, whose orientation is kept.
[[nodiscard]] std::string write_tiff(const Picture& picture, const ImageMetadata& metadata,
                                     int level);

}  // namespace strid::denoise
