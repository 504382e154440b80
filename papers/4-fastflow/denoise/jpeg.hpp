// SPDX-License-Identifier: Apache-2.0
//
// JPEG images of 8 bits, grey or in colours, by libjpeg; where the program was built without it,
// each function throws an ImageError that names it. Functions without state; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "image_metadata.hpp"
#include "loop.hpp"
#include "picture.hpp"

namespace strid::denoise {

/// Grey, or YCbCr and RGB as RGB. Throws ImageError for any other (CMYK), for what libjpeg finds
/// damaged or cut off, for more pixels than `pixels_max`, and for more than 1000 scans. Bytes
/// behind the end of the image are not looked at: cameras put previews there.
[[nodiscard]] Picture read_jpeg(std::string_view jpeg, std::uint64_t pixels_max, const Loop& loop);

/// Exif, the colour profile and the resolution.
[[nodiscard]] ImageMetadata metadata_of_jpeg(std::string_view jpeg);

/// With `quality` 1 to 100 and colours in full resolution. Throws ImageError for alpha, and for
/// samples of more than 8 bits. Exif of more than 65,527 bytes is left out.
[[nodiscard]] std::string write_jpeg(const Picture& picture, const ImageMetadata& metadata,
                                     int quality);

}  // namespace strid::denoise
