// SPDX-License-Identifier: Apache-2.0
//
// PNG images as frames: files, each with one image or several that follow each other, as on a pipe
// of `ffmpeg -f image2pipe -c:v png`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "byte_input.hpp"
#include "frame.hpp"

namespace strid::denoise {

/// `first` is the input of the first path, where it is open already. A file is opened when the one
/// before it is read. `level` is that of the compression of what is written.
[[nodiscard]] Frames png_frames(std::vector<std::string> paths, std::unique_ptr<ByteInput> first,
                                std::uint64_t pixels_max, int level);

}  // namespace strid::denoise
