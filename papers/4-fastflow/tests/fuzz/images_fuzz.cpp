// SPDX-License-Identifier: Apache-2.0
//
// Images. The first byte chooses: PNG as the bytes are, with the check sums of their chunks made
// right, or the samples of an image with a header of the fuzzer's; or netpbm, JPEG or TIFF.
// Invariant: an image is refused, or has as many samples as its size demands, none above the
// largest; netpbm that is written is read as the same picture.
#include <algorithm>
#include <string>
#include <string_view>

#include <zlib.h>

#include "image_metadata.hpp"
#include "jpeg.hpp"
#include "netpbm.hpp"
#include "png_chunks.hpp"
#include "png_reader.hpp"
#include "tests/support/fuzzing.hpp"
#include "tiff.hpp"

namespace strid::denoise {
namespace {

constexpr std::uint64_t pixels_max = 100'000;
constexpr std::size_t header_bytes = 13;

/// The chunks of `png` with their check sums.
std::string with_check_sums(std::string_view png) {
    constexpr std::size_t head = 8;
    std::string result(png.substr(0, png_signature.size()));
    png.remove_prefix(result.size());
    while (png.size() >= head + 4) {
        std::size_t length = 0;
        for (const char byte : png.substr(0, 4)) {
            length = length << 8 | static_cast<unsigned char>(byte);
        }
        if (length > png.size() - head - 4) break;
        append_chunk(result, png.substr(4, 4), png.substr(head, length));
        png.remove_prefix(head + length + 4);
    }
    return result.append(png);
}

/// An image whose header is the first bytes of `text` and whose rows are the rest.
std::string as_image(std::string_view text) {
    const std::string_view rows = text.substr(std::min(text.size(), header_bytes));
    std::string packed(::compressBound(rows.size()), '\0');
    uLongf size = packed.size();
    fuzz::require(::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                             reinterpret_cast<const Bytef*>(rows.data()), rows.size()) == Z_OK);
    packed.resize(size);
    std::string png(png_signature);
    std::string header(text.substr(0, header_bytes));
    header.resize(header_bytes);
    append_chunk(png, "IHDR", header);
    append_chunk(png, "PLTE", "abcdefghijkl");
    append_chunk(png, "IDAT", packed);
    append_chunk(png, "IEND", {});
    return png;
}

void check(const Picture& picture) {
    fuzz::require(!picture.planes.empty() && picture.kept_planes < picture.planes.size());
    for (const Plane& plane : picture.planes) {
        fuzz::require(plane.width != 0 && plane.width * plane.height <= pixels_max);
        fuzz::require(plane.samples.size() == plane.width * plane.height);
        for (std::size_t i = 0; i < plane.samples.size(); ++i) {
            fuzz::require(plane.samples[i] <= picture.sample_max);
        }
    }
}

void check_png_chunks(const ImageMetadata& metadata) {
    const std::string chunks = png_chunks_of(metadata);
    fuzz::require(chunks_to_keep(std::string(png_signature) + chunks) == chunks);
}

void check_png(std::string_view png) {
    check(read_png(png, pixels_max, run_in_sequence));
    fuzz::require(chunks_to_keep(png).size() <= png.size());
    check_png_chunks(metadata_of_png(png));
}

void check_netpbm(std::string_view text) {
    const Picture picture = read_netpbm(text, pixels_max, run_in_sequence);
    check(picture);
    const Picture again = read_netpbm(write_netpbm(picture), pixels_max, run_in_sequence);
    fuzz::require(again.sample_max == picture.sample_max);
    fuzz::require(again.planes.size() == picture.planes.size());
    for (std::size_t i = 0; i < again.planes.size(); ++i) {
        fuzz::require(again.planes[i].samples == picture.planes[i].samples);
    }
}

void check_any(unsigned kind, std::string_view text) {
    switch (kind) {
        case 0:
            return check_png(text);
        case 1:
            return check_png(with_check_sums(text));
        case 2:
            return check_png(as_image(text));
        case 3:
            return check_netpbm(text);
        case 4:
            check(read_jpeg(text, pixels_max, run_in_sequence));
            return check_png_chunks(metadata_of_jpeg(text));
        default:
            check(read_tiff(text, pixels_max, run_in_sequence));
            return check_png_chunks(metadata_of_tiff(text));
    }
}

}  // namespace
}  // namespace strid::denoise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    using namespace strid::denoise;
    const std::string_view text = strid::fuzz::text_of(data + 1, size - 1);
    try {
        check_any(data[0] % 6, text);
    } catch (const ImageError& error) {
        strid::fuzz::require(error.what()[0] != '\0');
    }
    return 0;
}
