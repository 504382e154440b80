// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <jpeglib.h>

#include "image_error.hpp"
#include "interleaved.hpp"
#include "jpeg.hpp"
#include "jpeg_failure.hpp"

namespace strid::denoise {

namespace {

using namespace std::string_view_literals;

constexpr auto exif_begin = "Exif\0\0"sv;
constexpr int exif_marker = JPEG_APP0 + 1;
constexpr int profile_marker = JPEG_APP0 + 2;
constexpr int scans_max = 1'000;

/// libjpeg goes back by longjmp, so that the functions that call it own nothing.
class JpegDecoder {
  public:
    explicit JpegDecoder(std::string_view jpeg) : jpeg_(jpeg) {
        image_.err = failure_.manager();
        image_.client_data = &failure_;
    }
    ~JpegDecoder() {
        jpeg_destroy_decompress(&image_);
        std::free(profile_);
    }
    JpegDecoder(const JpegDecoder&) = delete;
    JpegDecoder& operator=(const JpegDecoder&) = delete;

    [[nodiscard]] bool read_header() {
        if (setjmp(failure_.place) != 0) return false;
        jpeg_create_decompress(&image_);  // keeps err and client_data
        progress_.progress_monitor = &JpegDecoder::limit_scans;
        image_.progress = &progress_;
        jpeg_mem_src(&image_, reinterpret_cast<const unsigned char*>(jpeg_.data()),
                     static_cast<unsigned long>(jpeg_.size()));
        jpeg_save_markers(&image_, exif_marker, 0xffff);
        jpeg_save_markers(&image_, profile_marker, 0xffff);
        jpeg_read_header(&image_, TRUE);
        return true;
    }
    [[nodiscard]] bool begin() {
        if (setjmp(failure_.place) != 0) return false;
        image_.out_color_space = image_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
        jpeg_start_decompress(&image_);
        return true;
    }
    [[nodiscard]] bool read_rows(unsigned char* rows) {
        if (setjmp(failure_.place) != 0) return false;
        while (image_.output_scanline < image_.output_height) {
            JSAMPROW row = rows + image_.output_scanline * row_bytes();
            jpeg_read_scanlines(&image_, &row, 1);
        }
        jpeg_finish_decompress(&image_);
        return true;
    }
    [[nodiscard]] bool read_profile() {
        if (setjmp(failure_.place) != 0) return false;
        return jpeg_read_icc_profile(&image_, &profile_, &profile_bytes_) == TRUE;
    }

    [[nodiscard]] const jpeg_decompress_struct& image() const noexcept { return image_; }
    [[nodiscard]] const std::string& error() const noexcept { return failure_.text; }
    [[nodiscard]] std::string_view profile() const noexcept {
        return {reinterpret_cast<const char*>(profile_), profile_bytes_};
    }

  private:
    static void limit_scans(j_common_ptr common) {
        const auto* const image = reinterpret_cast<j_decompress_ptr>(common);
        if (image->input_scan_number > scans_max)
            JpegFailure::fail(common, "it has too many scans");
    }
    [[nodiscard]] std::size_t row_bytes() const noexcept {
        return std::size_t{image_.output_width} *
               static_cast<std::size_t>(image_.output_components);
    }

    std::string_view jpeg_;
    JpegFailure failure_;
    jpeg_progress_mgr progress_{};
    jpeg_decompress_struct image_{};
    JOCTET* profile_ = nullptr;
    unsigned profile_bytes_ = 0;
};

[[noreturn]] void fail_jpeg(const JpegDecoder& decoder) {
    throw ImageError("a damaged JPEG image: " + decoder.error());
}

}  // namespace

Picture read_jpeg(std::string_view jpeg, std::uint64_t pixels_max, const Loop& loop) {
    JpegDecoder decoder(jpeg);
    if (!decoder.read_header()) fail_jpeg(decoder);
    const jpeg_decompress_struct& image = decoder.image();
    if (std::uint64_t{image.image_width} * image.image_height > pixels_max) {
        throw ImageError(fmt::format("an image of {}x{} pixels, more than {} (--pixels-max)",
                                     image.image_width, image.image_height, pixels_max));
    }
    if (image.num_components != 1 && image.num_components != 3) {
        throw ImageError("a JPEG image that is neither grey nor YCbCr nor RGB");
    }
    if (!decoder.begin()) fail_jpeg(decoder);
    const ImageShape shape{image.output_width, image.output_height,
                           static_cast<std::size_t>(image.output_components)};
    Array<unsigned char> rows(shape.row_bytes() * shape.height);
    if (!decoder.read_rows(rows.data())) fail_jpeg(decoder);
    return split_pixels(rows.data(), shape, loop);
}

ImageMetadata metadata_of_jpeg(std::string_view jpeg) {
    JpegDecoder decoder(jpeg);
    if (!decoder.read_header()) fail_jpeg(decoder);
    ImageMetadata metadata;
    const jpeg_decompress_struct& image = decoder.image();
    for (auto marker = image.marker_list; marker != nullptr; marker = marker->next) {
        std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
        if (marker->marker != exif_marker || !data.starts_with(exif_begin)) continue;
        data.remove_prefix(exif_begin.size());
        if (metadata.exif.empty()) metadata.exif = data;
    }
    metadata.orientation = orientation_of_exif(metadata.exif);
    if (decoder.read_profile()) metadata.profile = decoder.profile();
    constexpr double inches_per_metre = 1 / 0.0254;
    const double per_metre =
        image.density_unit == 1 ? inches_per_metre : (image.density_unit == 2 ? 100 : 0);
    metadata.x_per_metre = image.X_density * per_metre;
    metadata.y_per_metre = image.Y_density * per_metre;
    return metadata;
}

}  // namespace strid::denoise
