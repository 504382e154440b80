// SPDX-License-Identifier: Apache-2.0
//
// Images as frames: files of any form that image_form.hpp names, each with one image, or with
// several PNG images or raw PGM and PPM that follow each other, as on a pipe of
// `ffmpeg -f image2pipe -c:v png`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "byte_input.hpp"
#include "frame.hpp"
#include "image_form.hpp"

namespace strid::denoise {

struct ImageOptions {
    std::uint64_t pixels_max = 0;
    int compression = 6;  ///< Level of zlib, for PNG and TIFF.
    int quality = 95;     ///< Of JPEG.
    /// The form of the results of each input file; none: as target_of_input() says.
    std::vector<std::optional<ImageTarget>> targets = {};
    bool is_one_file = false;  ///< All images go into one file or stream.
};

/// `first` is the input of the first path, where it is open already. A file is opened when the one
/// before it is read.
[[nodiscard]] Frames image_frames(std::vector<std::string> paths, std::unique_ptr<ByteInput> first,
                                  ImageOptions options);

}  // namespace strid::denoise
