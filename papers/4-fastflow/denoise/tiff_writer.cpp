// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "array.hpp"
#include "interleaved.hpp"
#include "tiff.hpp"
#include "tiff_file.hpp"

namespace strid::denoise {

namespace {

constexpr std::size_t strip_bytes = 64U << 10;
constexpr std::uint64_t small_tiff_bytes = std::uint64_t{15} << 28;  // offsets have 32 bits
constexpr double inch_in_metres = 0.0254;

void set_fields(TIFF* tiff, const Picture& picture, const ImageShape& shape, int level) {
    const bool is_grey = picture.changed_planes() == 1;
    ::TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(shape.width));
    ::TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(shape.height));
    ::TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, shape.sample == SampleForm::byte ? 8 : 16);
    ::TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(shape.channels));
    ::TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    ::TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, is_grey ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
    if (level != 0 && ::TIFFIsCODECConfigured(COMPRESSION_ADOBE_DEFLATE) != 0) {
        ::TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
        ::TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, level);
        ::TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    } else {
        ::TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    }
}

void set_metadata(TIFF* tiff, const Picture& picture, const ImageMetadata& metadata) {
    if (picture.kept_planes != 0) {
        const std::uint16_t kind =
            metadata.multiplied_alpha ? EXTRASAMPLE_ASSOCALPHA : EXTRASAMPLE_UNASSALPHA;
        ::TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
    }
    ::TIFFSetField(tiff, TIFFTAG_ORIENTATION, static_cast<int>(metadata.orientation));
    if (!metadata.profile.empty()) {
        ::TIFFSetField(tiff, TIFFTAG_ICCPROFILE,
                       static_cast<std::uint32_t>(metadata.profile.size()),
                       metadata.profile.data());
    }
    if (metadata.x_per_metre > 0 && metadata.y_per_metre > 0) {
        ::TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
        ::TIFFSetField(tiff, TIFFTAG_XRESOLUTION, metadata.x_per_metre * inch_in_metres);
        ::TIFFSetField(tiff, TIFFTAG_YRESOLUTION, metadata.y_per_metre * inch_in_metres);
    }
}

}  // namespace

std::string write_tiff(const Picture& picture, const ImageMetadata& metadata, int level) {
    const ImageShape shape = shape_of(picture, SampleForm::two_native);
    TiffFile file(shape.row_bytes() * shape.height > small_tiff_bytes);
    TIFF* const tiff = file.handle();
    set_fields(tiff, picture, shape, level);
    set_metadata(tiff, picture, metadata);
    const std::size_t rows =
        std::clamp<std::size_t>(strip_bytes / shape.row_bytes(), 1, shape.height);
    ::TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(rows));
    Array<unsigned char> strip(rows * shape.row_bytes());
    for (std::size_t y = 0; y < shape.height; y += rows) {
        const std::size_t count = std::min(rows, shape.height - y);
        for (std::size_t i = 0; i < count; ++i) {
            join_row(picture, y + i, SampleForm::two_native, &strip[i * shape.row_bytes()]);
        }
        const auto number = static_cast<std::uint32_t>(y / rows);
        const auto bytes = static_cast<tmsize_t>(count * shape.row_bytes());
        if (::TIFFWriteEncodedStrip(tiff, number, strip.data(), bytes) != bytes) file.fail("");
    }
    return file.finish();
}

}  // namespace strid::denoise
