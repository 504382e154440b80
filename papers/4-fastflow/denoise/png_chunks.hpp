// SPDX-License-Identifier: Apache-2.0
//
// The chunks of a PNG stream (ISO/IEC 15948): where an image ends, so that images can follow each
// other on a pipe, what its header says, and which chunks go from the input to the output as they
// are. A PngScan is for one thread; the functions for any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "image_error.hpp"

namespace strid::denoise {

struct PngHeader {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::uint8_t depth = 0;   ///< Bits of a sample or an index.
    std::uint8_t colour = 0;  ///< 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha.
};

[[nodiscard]] bool begins_as_png(std::string_view bytes) noexcept;

/// Finds the end of the image that begins at the begin of `bytes`, of which more come each time.
class PngScan {
  public:
    explicit PngScan(std::uint64_t pixels_max) : pixels_max_(pixels_max) {}

    /// True once all of the image is there: its first size_bytes() bytes. Throws ImageError for
    /// what is no PNG, and for more pixels than `pixels_max`.
    [[nodiscard]] bool find_end(std::string_view bytes);
    [[nodiscard]] std::size_t size_bytes() const noexcept { return next_; }
    [[nodiscard]] const PngHeader& header() const noexcept { return header_; }

  private:
    void read_header(std::string_view chunk);

    std::uint64_t pixels_max_;
    std::uint64_t bytes_max_ = 0;  // of an image with so many pixels
    std::size_t next_ = 0;         // the begin of the chunk that is looked at
    PngHeader header_;
};

/// Those that say how the samples are meant (gAMA, cHRM, sRGB, iCCP, cICP, pHYs), how the picture
/// was taken (eXIf), and texts, whole; damaged ones are left out.
[[nodiscard]] std::string chunks_to_keep(std::string_view png);

/// The four bytes of a number, the highest first.
void append_number(std::string& out, std::uint32_t number);

/// Length, type, data and check sum.
void append_chunk(std::string& out, std::string_view type, std::string_view data);

extern const std::string_view png_signature;

}  // namespace strid::denoise
