// SPDX-License-Identifier: Apache-2.0
#include "png_reader.hpp"

#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include <png.h>

#include "interleaved.hpp"

namespace strid::denoise {

namespace {

constexpr png_alloc_size_t chunk_memory_max = 64U << 20;  // a text or a profile, decompressed

/// libpng goes back by longjmp, so that the functions that call it own nothing: what must be
/// destroyed is here.
class Decoder {
  public:
    explicit Decoder(std::string_view png) : rest_(png) {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &Decoder::fail, &Decoder::warn);
        if (png_ != nullptr) info_ = png_create_info_struct(png_);
        if (info_ == nullptr) {
            png_destroy_read_struct(&png_, nullptr, nullptr);
            throw ImageError("no memory for a PNG image");
        }
    }
    ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    [[nodiscard]] bool read_header() {
        if (setjmp(png_jmpbuf(png_)) != 0) return false;
        png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        png_set_chunk_malloc_max(png_, chunk_memory_max);
        png_set_read_fn(png_, this, &Decoder::give);
        png_read_info(png_, info_);
        png_set_expand(png_);
        png_set_interlace_handling(png_);
        png_read_update_info(png_, info_);
        return true;
    }
    [[nodiscard]] bool read_rows(png_bytepp rows) {
        if (setjmp(png_jmpbuf(png_)) != 0) return false;
        png_read_image(png_, rows);
        png_read_end(png_, nullptr);
        return true;
    }

    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] std::size_t width() const { return png_get_image_width(png_, info_); }
    [[nodiscard]] std::size_t height() const { return png_get_image_height(png_, info_); }
    [[nodiscard]] std::size_t channels() const { return png_get_channels(png_, info_); }
    [[nodiscard]] bool is_16_bit() const { return png_get_bit_depth(png_, info_) == 16; }
    [[nodiscard]] std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
    [[nodiscard]] bool has_alpha() const {
        return (png_get_color_type(png_, info_) & PNG_COLOR_MASK_ALPHA) != 0;
    }

  private:
    static void give(png_structp png, png_bytep out, std::size_t bytes) {
        auto& self = *static_cast<Decoder*>(png_get_io_ptr(png));
        if (bytes > self.rest_.size()) png_error(png, "it ends too early");
        std::memcpy(out, self.rest_.data(), bytes);
        self.rest_.remove_prefix(bytes);
    }
    [[noreturn]] static void fail(png_structp png, png_const_charp what) {
        static_cast<Decoder*>(png_get_error_ptr(png))->error_ = what;
        png_longjmp(png, 1);
    }
    static void warn(png_structp /*png*/, png_const_charp /*what*/) {}

    std::string_view rest_;
    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
    std::string error_;
};

}  // namespace

Picture read_png(std::string_view png, std::uint64_t pixels_max, const Loop& loop) {
    if (PngScan scan(pixels_max); !scan.find_end(png))
        throw ImageError("a PNG image that is cut off");
    Decoder decoder(png);
    if (!decoder.read_header()) throw ImageError("a damaged PNG image: " + decoder.error());
    const std::size_t width = decoder.width();
    const std::size_t height = decoder.height();
    Array<unsigned char> bytes(decoder.row_bytes() * height);
    std::vector<png_bytep> rows(height);
    for (std::size_t y = 0; y < height; ++y) rows[y] = &bytes[y * decoder.row_bytes()];
    if (!decoder.read_rows(rows.data())) {
        throw ImageError("a damaged PNG image: " + decoder.error());
    }

    const ImageShape shape{width, height, decoder.channels(),
                           decoder.is_16_bit() ? SampleForm::two_big_endian : SampleForm::byte};
    Picture picture = split_pixels(bytes.data(), shape, loop);
    picture.kept_planes = decoder.has_alpha() ? 1 : 0;
    return picture;
}

}  // namespace strid::denoise
