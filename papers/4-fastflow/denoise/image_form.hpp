// SPDX-License-Identifier: Apache-2.0
//
// The forms of files that hold pictures: what a file is by its first bytes, and what it is to
// become by its name. Functions without state; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace strid::denoise {

enum class ImageForm : unsigned char { png, netpbm, jpeg, tiff };

/// The form whose signature the bytes begin with, or all of them are the begin of; none: no form
/// that is read. `bytes` are not empty.
[[nodiscard]] std::optional<ImageForm> form_of_bytes(std::string_view bytes) noexcept;

/// "PNG", "JPEG", ... in messages.
[[nodiscard]] std::string_view form_name(ImageForm form) noexcept;

/// The form of a result.
struct ImageTarget {
    ImageForm form = ImageForm::png;
    std::size_t planes = 0;  ///< Of netpbm: 1 for .pgm, 3 for .ppm; 0: as the picture has.
};

/// By the extension of a file's name, in any case; none: it names no form.
[[nodiscard]] std::optional<ImageTarget> target_of_name(std::string_view path);
/// Without a name: as the input, and PNG for JPEG, which would lose what is kept.
[[nodiscard]] ImageTarget target_of_input(ImageForm input) noexcept;
/// The name of a result that is called as its input is: with .png in the place of .jpg.
[[nodiscard]] std::string lossless_name(std::string path);

}  // namespace strid::denoise
