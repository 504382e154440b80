// SPDX-License-Identifier: Apache-2.0
//
// Uncompressed video as frames: raw streams whose shape the user says, and YUV4MPEG2 (.y4m), whose
// header says it. The output has the form of the input, with the same header and marks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "byte_input.hpp"
#include "frame.hpp"

namespace strid::denoise {

enum class RawPixel : unsigned char { gray, rgb24, yuv420p };

struct RawShape {
    std::size_t width = 0;
    std::size_t height = 0;
    RawPixel pixel = RawPixel::gray;
};

[[nodiscard]] Frames raw_frames(std::unique_ptr<ByteInput> input, const RawShape& shape);

[[nodiscard]] bool begins_as_y4m(std::string_view bytes) noexcept;
/// Reads the header, and asks `check` while it waits. Throws InputOutputError.
[[nodiscard]] Frames y4m_frames(std::unique_ptr<ByteInput> input, std::uint64_t pixels_max,
                                const std::function<void()>& check);

}  // namespace strid::denoise
