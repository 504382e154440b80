// SPDX-License-Identifier: Apache-2.0
//
// The shape of uncompressed frames, and how the header of a YUV4MPEG2 stream says it. Plain values
// and a function without state; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strid::denoise {

struct FrameLayout {
    struct Size {
        std::size_t width, height;
    };
    std::vector<Size> planes = {};
    std::size_t kept_planes = 0;
    std::size_t sample_bytes = 1;  ///< 2: little-endian.
    unsigned sample_max = 255;
    bool interleaved = false;  ///< The samples of a pixel stand together: RGB.

    [[nodiscard]] std::size_t frame_bytes() const noexcept;
};

/// `line` is without its end. All forms that ffmpeg writes: 4:2:0, 4:1:1, 4:2:2, 4:4:4 and grey, of
/// 8 to 16 bits, and 4:4:4 with alpha. Throws Error.
[[nodiscard]] FrameLayout read_y4m_header(std::string_view line, std::uint64_t pixels_max);

}  // namespace strid::denoise
