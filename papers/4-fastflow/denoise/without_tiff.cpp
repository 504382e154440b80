// SPDX-License-Identifier: Apache-2.0
#include "image_error.hpp"
#include "tiff.hpp"

namespace strid::denoise {

namespace {

[[noreturn]] void refuse_tiff() {
    throw ImageError("this strid-denoise was built without libtiff 4.5 and has no TIFF");
}

}  // namespace

Picture read_tiff(std::string_view /*tiff*/, std::uint64_t /*pixels_max*/, const Loop& /*loop*/) {
    refuse_tiff();
}

ImageMetadata metadata_of_tiff(std::string_view /*tiff*/) {
    refuse_tiff();
}

std::string write_tiff(const Picture& /*picture*/, const ImageMetadata& /*metadata*/,
                       int /*level*/) {
    refuse_tiff();
}

}  // namespace strid::denoise
