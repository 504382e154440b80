// SPDX-License-Identifier: Apache-2.0
//
// The parts of an image file beside its samples that go from the input to the output. A plain
// value, and functions without state; any thread.
#pragma once

#include <string>
#include <string_view>

namespace strid::denoise {

struct ImageMetadata {
    std::string exif = {};     ///< As it stands in eXIf of PNG: from "II*" or "MM" on.
    std::string profile = {};  ///< Of colours, by the ICC.
    double x_per_metre = 0;    ///< Pixels; 0: not known.
    double y_per_metre = 0;
    unsigned orientation = 1;       ///< As Exif numbers it; of TIFF and of `exif`.
    bool multiplied_alpha = false;  ///< Colours of TIFF are multiplied by alpha already.
};

/// Of the chunks eXIf, iCCP and pHYs. A profile of more than 16 MiB is left out.
[[nodiscard]] ImageMetadata metadata_of_png(std::string_view png);

/// The chunks for a PNG image out of another form: eXIf (with the orientation alone, where that is
/// all there is), iCCP and pHYs.
[[nodiscard]] std::string png_chunks_of(const ImageMetadata& metadata);

/// 1 to 8; 1 where it has none.
[[nodiscard]] unsigned orientation_of_exif(std::string_view exif) noexcept;

}  // namespace strid::denoise
