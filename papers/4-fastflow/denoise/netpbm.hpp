// SPDX-License-Identifier: Apache-2.0
//
// PGM and PPM pictures of netpbm: the plain forms (P2, P3: numbers as text) and the raw ones (P5,
// P6: a byte a sample, or two where the largest one is above 255). Functions without state; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "interleaved.hpp"
#include "loop.hpp"
#include "picture.hpp"

namespace strid::denoise {

struct NetpbmHeader {
    ImageShape shape = {};
    unsigned sample_max = 255;
    bool is_plain = false;
    std::size_t size_bytes = 0;  ///< Of the header; the samples follow.

    /// Of a raw picture, with its header.
    [[nodiscard]] std::size_t image_bytes() const noexcept {
        return size_bytes + shape.row_bytes() * shape.height;
    }
};

/// Nothing where the bytes end inside the header. Comments may stand between its numbers. Throws
/// ImageError for what is no header, one of more than 64 KiB, and for more pixels than
/// `pixels_max`.
[[nodiscard]] std::optional<NetpbmHeader> read_netpbm_header(std::string_view bytes,
                                                             std::uint64_t pixels_max);

/// `sample_max` of the picture is that of the header, from 1 to 65535. Throws ImageError for a
/// sample above it, and where there are fewer or more samples than the header says.
[[nodiscard]] Picture read_netpbm(std::string_view bytes, std::uint64_t pixels_max,
                                  const Loop& loop);

/// One plane becomes PGM, three PPM, both raw. Throws ImageError for alpha.
[[nodiscard]] std::string write_netpbm(const Picture& picture);

}  // namespace strid::denoise
