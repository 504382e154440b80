// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "image_error.hpp"
#include "interleaved.hpp"
#include "tiff.hpp"
#include "tiff_file.hpp"

namespace strid::denoise {

namespace {

constexpr std::uint64_t other_bytes = 64U << 20;
constexpr double inches_of_a_metre = 1 / 0.0254;

std::uint64_t memory_max(std::uint64_t pixels_max) noexcept {
    return 16 * pixels_max + other_bytes;  // four samples of two bytes, and what tiles add
}

/// A strip or a tile: the unit that is decompressed.
struct TiffParts {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::uint16_t planes = 1;  ///< Parts of the same pixels: 1 where the samples stand together.
    bool are_tiles = false;
};

class TiffDecoder {
  public:
    TiffDecoder(std::string_view bytes, std::uint64_t pixels_max)
        : file_(bytes, memory_max(pixels_max)), pixels_max_(pixels_max) {}

    Picture decode(const Loop& loop) {
        refuse_pages();
        read_shape();
        read_colours();
        read_parts();
        const bool apart = parts_.planes > 1;
        Array<unsigned char> pixels(shape_.row_bytes() * shape_.height);
        for (std::uint16_t plane = 0; plane < parts_.planes; ++plane) {
            for (std::uint32_t y = 0; y < shape_.height; y += parts_.height) {
                for (std::uint32_t x = 0; x < shape_.width; x += parts_.width) {
                    read_part(x, y, plane);
                    apart ? copy_plane(x, y, plane, pixels.data()) : copy(x, y, pixels.data());
                }
            }
        }
        Picture picture = split_pixels(pixels.data(), shape_, loop);
        picture.kept_planes = has_alpha_ ? 1 : 0;
        if (photometric_ == PHOTOMETRIC_MINISWHITE)
            invert(picture.planes.front(), picture.sample_max);
        if (photometric_ == PHOTOMETRIC_PALETTE) look_up(picture);
        return picture;
    }

  private:
    /// Smaller versions of the picture are no pages.
    void refuse_pages() {
        constexpr unsigned pages_max = 1'000;
        unsigned pages = 1;
        for (unsigned i = 0; i < pages_max && ::TIFFReadDirectory(file_.handle()) == 1; ++i) {
            const auto kind = file_.number<std::uint32_t>(TIFFTAG_SUBFILETYPE, 0);
            if ((kind & FILETYPE_REDUCEDIMAGE) == 0) ++pages;
        }
        if (file_.has_error()) file_.fail("");
        if (pages > 1) {
            throw ImageError(
                fmt::format("a TIFF file of {} pages: tiffsplit makes a file of each", pages));
        }
        if (::TIFFSetDirectory(file_.handle(), 0) != 1) file_.fail("no directory of an image");
    }

    void read_shape() {
        const auto width = file_.number<std::uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
        const auto height = file_.number<std::uint32_t>(TIFFTAG_IMAGELENGTH, 0);
        if (width == 0 || height == 0) file_.fail("an image without pixels");
        if (std::uint64_t{width} * height > pixels_max_) {
            throw ImageError(fmt::format("an image of {}x{} pixels, more than {} (--pixels-max)",
                                         width, height, pixels_max_));
        }
        const auto bits = file_.number<std::uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
        const auto form = file_.number<std::uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
        if ((bits != 8 && bits != 16) || form != SAMPLEFORMAT_UINT) {
            throw ImageError(fmt::format("a TIFF image of {} bits a sample{}: 8 and 16 are read",
                                         bits,
                                         form == SAMPLEFORMAT_UINT ? ""
                                                                   : ", with a sign or "
                                                                     "as real numbers"));
        }
        shape_ = {width, height, file_.number<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1),
                  bits == 16 ? SampleForm::two_native : SampleForm::byte};
        const auto coding = file_.number<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
        if (::TIFFIsCODECConfigured(coding) == 0) {
            throw ImageError(
                fmt::format("a TIFF image of compression {}, which libtiff lacks", coding));
        }
        if (coding == COMPRESSION_JPEG) {
            ::TIFFSetField(file_.handle(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        }
        is_jpeg_ = coding == COMPRESSION_JPEG;
    }

    void read_colours() {
        std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
        ::TIFFGetField(file_.handle(), TIFFTAG_PHOTOMETRIC, &photometric);
        photometric_ = photometric;
        std::size_t colours = 1;
        switch (photometric) {
            case PHOTOMETRIC_MINISBLACK:
            case PHOTOMETRIC_MINISWHITE:
                break;
            case PHOTOMETRIC_YCBCR:
                if (!is_jpeg_) refuse_colours();
                [[fallthrough]];
            case PHOTOMETRIC_RGB:
                colours = 3;
                break;
            case PHOTOMETRIC_PALETTE:
                if (shape_.sample == SampleForm::byte && shape_.channels == 1) break;
                [[fallthrough]];
            default:
                refuse_colours();
        }
        if (shape_.channels != colours && shape_.channels != colours + 1) refuse_colours();
        has_alpha_ = shape_.channels == colours + 1;
    }
    [[noreturn]] void refuse_colours() const {
        throw ImageError(fmt::format(
            "a TIFF image of photometric interpretation {} with {} samples a pixel: grey, RGB and "
            "palettes are read, with or without alpha",
            photometric_, shape_.channels));
    }

    void read_parts() {
        const auto planar = file_.number<std::uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
        if (planar == PLANARCONFIG_SEPARATE) {
            parts_.planes = static_cast<std::uint16_t>(shape_.channels);
        }
        parts_.are_tiles = ::TIFFIsTiled(file_.handle()) != 0;
        parts_.width = static_cast<std::uint32_t>(shape_.width);
        if (parts_.are_tiles) {
            parts_.width = file_.number<std::uint32_t>(TIFFTAG_TILEWIDTH, 0);
            parts_.height = file_.number<std::uint32_t>(TIFFTAG_TILELENGTH, 0);
        } else {
            const auto all = static_cast<std::uint32_t>(shape_.height);
            parts_.height = std::min(file_.number<std::uint32_t>(TIFFTAG_ROWSPERSTRIP, all), all);
        }
        if (parts_.width == 0 || parts_.height == 0) file_.fail("strips or tiles without pixels");
        const std::uint64_t across = (shape_.width + parts_.width - 1) / parts_.width;
        const std::uint64_t down = (shape_.height + parts_.height - 1) / parts_.height;
        // The sides are below 2^32 and the counts below 2^27 where their product is.
        const std::uint64_t padded =
            across * parts_.width > ~std::uint64_t{0} / (down * parts_.height)
                ? ~std::uint64_t{0}
                : across * parts_.width * down * parts_.height;
        if (padded > 2 * pixels_max_ + (1U << 20)) {
            throw ImageError(
                fmt::format("a TIFF image whose tiles of {}x{} have more pixels than "
                            "{} allow (--pixels-max)",
                            parts_.width, parts_.height, pixels_max_));
        }
        const tmsize_t bytes =
            parts_.are_tiles ? ::TIFFTileSize(file_.handle()) : ::TIFFStripSize(file_.handle());
        // As many as copy() takes: not so in YCbCr that is not converted.
        if (bytes <= 0 || static_cast<std::uint64_t>(bytes) !=
                              std::uint64_t{parts_.width} * parts_.height * pixel_bytes()) {
            file_.fail("strips or tiles of another size than their pixels have");
        }
        part_.resize(static_cast<std::size_t>(bytes));
    }
    /// Of a pixel in a part.
    [[nodiscard]] std::size_t pixel_bytes() const noexcept {
        const std::size_t channels = parts_.planes > 1 ? 1 : shape_.channels;
        return channels * (shape_.sample == SampleForm::byte ? 1 : 2);
    }

    void read_part(std::uint32_t x, std::uint32_t y, std::uint16_t plane) {
        const auto rows = static_cast<std::uint32_t>(shape_.height) - y;
        auto wanted = static_cast<tmsize_t>(part_.size());
        tmsize_t got = 0;
        if (parts_.are_tiles) {
            const auto tile = ::TIFFComputeTile(file_.handle(), x, y, 0, plane);
            got = ::TIFFReadEncodedTile(file_.handle(), tile, part_.data(), wanted);
        } else {
            wanted = wanted / parts_.height * std::min(parts_.height, rows);
            const auto strip = ::TIFFComputeStrip(file_.handle(), y, plane);
            got = ::TIFFReadEncodedStrip(file_.handle(), strip, part_.data(), wanted);
        }
        if (got != wanted || file_.has_error()) file_.fail("a strip or a tile is cut off");
    }

    /// Samples that stand together, row by row.
    void copy(std::uint32_t x, std::uint32_t y, unsigned char* pixels) const {
        const std::size_t pixel = pixel_bytes();
        const std::size_t columns = std::min<std::size_t>(parts_.width, shape_.width - x);
        const std::size_t rows = std::min<std::size_t>(parts_.height, shape_.height - y);
        for (std::size_t row = 0; row < rows; ++row) {
            std::memcpy(pixels + (y + row) * shape_.row_bytes() + x * pixel,
                        &part_[row * parts_.width * pixel], columns * pixel);
        }
    }
    /// Samples of one plane, between those of the others.
    void copy_plane(std::uint32_t x, std::uint32_t y, std::uint16_t plane,
                    unsigned char* pixels) const {
        const std::size_t sample = pixel_bytes();
        const std::size_t pixel = sample * shape_.channels;
        const std::size_t columns = std::min<std::size_t>(parts_.width, shape_.width - x);
        const std::size_t rows = std::min<std::size_t>(parts_.height, shape_.height - y);
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t column = 0; column < columns; ++column) {
                std::memcpy(
                    pixels + (y + row) * shape_.row_bytes() + (x + column) * pixel + plane * sample,
                    &part_[(row * parts_.width + column) * sample], sample);
            }
        }
    }

    static void invert(Plane& plane, unsigned sample_max) {
        for (std::uint16_t& sample : plane.samples) {
            sample = static_cast<std::uint16_t>(sample_max - sample);
        }
    }
    void look_up(Picture& picture) const {
        std::uint16_t* colours[3] = {};
        if (::TIFFGetField(file_.handle(), TIFFTAG_COLORMAP, &colours[0], &colours[1],
                           &colours[2]) != 1) {
            file_.fail("a palette image without a palette");
        }
        Plane indices = std::move(picture.planes.front());
        picture.planes.assign(3, indices);
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::uint16_t& sample : picture.planes[i].samples) {
                sample = static_cast<std::uint16_t>(colours[i][sample] >> 8);
            }
        }
    }

    TiffFile file_;
    std::uint64_t pixels_max_;
    ImageShape shape_;
    TiffParts parts_;
    std::uint16_t photometric_ = 0;
    bool is_jpeg_ = false;
    bool has_alpha_ = false;
    Array<unsigned char> part_;
};

}  // namespace

Picture read_tiff(std::string_view tiff, std::uint64_t pixels_max, const Loop& loop) {
    return TiffDecoder(tiff, pixels_max).decode(loop);
}

ImageMetadata metadata_of_tiff(std::string_view tiff) {
    const TiffFile file(tiff, memory_max(0));
    ImageMetadata metadata;
    const auto orientation = file.number<std::uint16_t>(TIFFTAG_ORIENTATION, 1);
    metadata.orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
    std::uint32_t bytes = 0;
    void* profile = nullptr;
    if (::TIFFGetField(file.handle(), TIFFTAG_ICCPROFILE, &bytes, &profile) == 1) {
        metadata.profile.assign(static_cast<const char*>(profile), bytes);
    }
    const auto unit = file.number<std::uint16_t>(TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
    const double per_metre =
        unit == RESUNIT_INCH ? inches_of_a_metre : (unit == RESUNIT_CENTIMETER ? 100 : 0);
    float x = 0;
    float y = 0;
    if (::TIFFGetField(file.handle(), TIFFTAG_XRESOLUTION, &x) == 1)
        metadata.x_per_metre = x * per_metre;
    if (::TIFFGetField(file.handle(), TIFFTAG_YRESOLUTION, &y) == 1)
        metadata.y_per_metre = y * per_metre;
    std::uint16_t extra = 0;
    std::uint16_t* kinds = nullptr;
    if (::TIFFGetField(file.handle(), TIFFTAG_EXTRASAMPLES, &extra, &kinds) == 1 && extra == 1) {
        metadata.multiplied_alpha = kinds[0] == EXTRASAMPLE_ASSOCALPHA;
    }
    return metadata;
}

}  // namespace strid::denoise
