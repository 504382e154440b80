// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "image_error.hpp"
#include "interleaved.hpp"
#include "jpeg.hpp"
#include "jpeg_failure.hpp"

namespace strid::denoise {

namespace {

constexpr std::size_t segment_bytes_max = 65'533;

/// libjpeg goes back by longjmp, so that the functions that call it own nothing.
class JpegEncoder {
  public:
    JpegEncoder() {
        image_.err = failure_.manager();
        image_.client_data = &failure_;
    }
    ~JpegEncoder() {
        jpeg_destroy_compress(&image_);
        std::free(bytes_);
    }
    JpegEncoder(const JpegEncoder&) = delete;
    JpegEncoder& operator=(const JpegEncoder&) = delete;

    [[nodiscard]] bool write(const Picture& picture, const ImageMetadata& metadata,
                             const std::string& exif, int quality, unsigned char* row) {
        if (setjmp(failure_.place) != 0) return false;
        begin(picture, metadata, quality);
        if (!exif.empty() && exif.size() <= segment_bytes_max) {
            jpeg_write_marker(&image_, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(exif.data()),
                              static_cast<unsigned>(exif.size()));
        }
        if (!metadata.profile.empty()) {
            jpeg_write_icc_profile(&image_,
                                   reinterpret_cast<const JOCTET*>(metadata.profile.data()),
                                   static_cast<unsigned>(metadata.profile.size()));
        }
        while (image_.next_scanline < image_.image_height) {
            join_row(picture, image_.next_scanline, SampleForm::byte, row);
            jpeg_write_scanlines(&image_, &row, 1);
        }
        jpeg_finish_compress(&image_);
        return true;
    }

    [[nodiscard]] const std::string& error() const noexcept { return failure_.text; }
    [[nodiscard]] std::string bytes() const {
        return {reinterpret_cast<const char*>(bytes_), size_};
    }

  private:
    void begin(const Picture& picture, const ImageMetadata& metadata, int quality) {
        jpeg_create_compress(&image_);  // keeps err and client_data
        jpeg_mem_dest(&image_, &bytes_, &size_);
        image_.image_width = static_cast<JDIMENSION>(picture.planes.front().width);
        image_.image_height = static_cast<JDIMENSION>(picture.planes.front().height);
        image_.input_components = static_cast<int>(picture.planes.size());
        image_.in_color_space = image_.input_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
        jpeg_set_defaults(&image_);
        jpeg_set_quality(&image_, quality, TRUE);
        for (int i = 0; i < image_.num_components; ++i) {
            image_.comp_info[i].h_samp_factor = image_.comp_info[i].v_samp_factor = 1;
        }
        const double x = std::round(metadata.x_per_metre * 0.0254);
        const double y = std::round(metadata.y_per_metre * 0.0254);
        if (x >= 1 && y >= 1 && x <= 65'535 && y <= 65'535) {
            image_.density_unit = 1;  // for each inch
            image_.X_density = static_cast<UINT16>(x);
            image_.Y_density = static_cast<UINT16>(y);
        }
        jpeg_start_compress(&image_, TRUE);
    }

    JpegFailure failure_;
    jpeg_compress_struct image_{};
    unsigned char* bytes_ = nullptr;
    unsigned long size_ = 0;
};

}  // namespace

std::string write_jpeg(const Picture& picture, const ImageMetadata& metadata, int quality) {
    if (picture.kept_planes != 0) throw ImageError("JPEG has no alpha: .png and .tif have");
    if (picture.sample_max > 255) {
        throw ImageError("its samples have 16 bits and those of JPEG 8: .png and .tif keep them");
    }
    std::string exif;
    if (!metadata.exif.empty()) exif = std::string("Exif\0\0", 6) + metadata.exif;
    Array<unsigned char> row(shape_of(picture, SampleForm::byte).row_bytes());
    JpegEncoder encoder;
    if (!encoder.write(picture, metadata, exif, quality, row.data())) {
        throw ImageError("it does not become a JPEG image: " + encoder.error());
    }
    return encoder.bytes();
}

}  // namespace strid::denoise
