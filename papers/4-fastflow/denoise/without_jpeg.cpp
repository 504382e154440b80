// SPDX-License-Identifier: Apache-2.0
#include "image_error.hpp"
#include "jpeg.hpp"

namespace strid::denoise {

namespace {

[[noreturn]] void refuse_jpeg() {
    throw ImageError("this strid-denoise was built without libjpeg and has no JPEG");
}

}  // namespace

Picture read_jpeg(std::string_view /*jpeg*/, std::uint64_t /*pixels_max*/, const Loop& /*loop*/) {
    refuse_jpeg();
}

ImageMetadata metadata_of_jpeg(std::string_view /*jpeg*/) {
    refuse_jpeg();
}

std::string write_jpeg(const Picture& /*picture*/, const ImageMetadata& /*metadata*/,
                       int /*quality*/) {
    refuse_jpeg();
}

}  // namespace strid::denoise
