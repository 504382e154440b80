// SPDX-License-Identifier: Apache-2.0
//
// Between planes and the rows of files, in which the samples of a pixel stand together. Functions
// without state; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loop.hpp"
#include "picture.hpp"

namespace strid::denoise {

enum class SampleForm : unsigned char { byte, two_big_endian, two_native };

struct ImageShape {
    std::size_t width = 0;
    std::size_t height = 0;
    std::size_t channels = 0;
    SampleForm sample = SampleForm::byte;

    [[nodiscard]] std::size_t row_bytes() const noexcept {
        return width * channels * (sample == SampleForm::byte ? 1 : 2);
    }
};

/// The planes of pixels that stand row by row from `bytes` on. `sample_max` is the largest that the
/// samples can have; none is kept.
[[nodiscard]] Picture split_pixels(const unsigned char* bytes, const ImageShape& shape,
                                   const Loop& loop);

/// Row `y` of the picture, in bytes, or as `wide` says where samples are above 255.
void join_row(const Picture& picture, std::size_t y, SampleForm wide, unsigned char* out);

/// The shape of a picture whose planes are all of one size.
[[nodiscard]] ImageShape shape_of(const Picture& picture, SampleForm wide);

/// With samples from 0 to `sample_max`, rounded, in the place of those to picture.sample_max.
[[nodiscard]] Picture rescaled(const Picture& picture, unsigned sample_max, const Loop& loop);

}  // namespace strid::denoise
