// SPDX-License-Identifier: Apache-2.0
#include "png_chunks.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <zlib.h>

namespace strid::denoise {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t chunk_overhead = 12;  // length, type and check sum
// 4 samples of 2 bytes, and what filters and deflate add at worst.
constexpr std::uint64_t pixel_bytes_max = 9;
constexpr std::uint64_t other_bytes_max = 64U << 20;
constexpr std::uint32_t chunk_bytes_max = 0x7fff'ffff;
constexpr std::array kept_types = {"gAMA"sv, "cHRM"sv, "sRGB"sv, "iCCP"sv, "cICP"sv,
                                   "pHYs"sv, "eXIf"sv, "tEXt"sv, "zTXt"sv, "iTXt"sv};

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
    }
    return number;
}

std::uint32_t check_sum(std::string_view type_and_data) {
    return static_cast<std::uint32_t>(
        ::crc32_z(0, reinterpret_cast<const Bytef*>(type_and_data.data()), type_and_data.size()));
}

}  // namespace

const std::string_view png_signature = "\x89PNG\r\n\x1a\n"sv;

bool begins_as_png(std::string_view bytes) noexcept {
    return bytes.starts_with(png_signature);
}

bool PngScan::find_end(std::string_view bytes) {
    if (next_ == 0) {
        const std::size_t known = std::min(bytes.size(), png_signature.size());
        if (bytes.substr(0, known) != png_signature.substr(0, known)) {
            throw ImageError("no PNG image");
        }
        if (known < png_signature.size()) return false;
        next_ = known;
    }
    while (bytes.size() >= next_ + chunk_overhead) {
        const std::uint32_t length = number_at(bytes, next_);
        const std::string_view type = bytes.substr(next_ + 4, 4);
        const bool is_first = next_ == png_signature.size();
        if (is_first != (type == "IHDR"sv) || (is_first && length != 13)) {
            throw ImageError("a PNG image without a header where it must be");
        }
        if (length > chunk_bytes_max)
            throw ImageError("a PNG image with a chunk beyond 2^31 bytes");
        const std::size_t size = chunk_overhead + length;
        // The header says whether the rest is worth waiting for.
        if (is_first && bytes.size() >= next_ + size) read_header(bytes.substr(next_, size));
        if (bytes_max_ != 0 && next_ + size > bytes_max_) {
            throw ImageError("a PNG image that is much longer than its pixels can be");
        }
        if (bytes.size() < next_ + size) return false;
        next_ += size;
        if (type == "IEND"sv) return true;
    }
    return false;
}

void PngScan::read_header(std::string_view chunk) {
    header_ = {number_at(chunk, 8), number_at(chunk, 12), static_cast<std::uint8_t>(chunk[16]),
               static_cast<std::uint8_t>(chunk[17])};
    if (header_.width == 0 || header_.height == 0) throw ImageError("a PNG image without pixels");
    if (std::uint64_t{header_.width} * header_.height > pixels_max_) {
        throw ImageError(fmt::format("an image of {}x{} pixels, more than {} (--pixels-max)",
                                     header_.width, header_.height, pixels_max_));
    }
    bytes_max_ = pixel_bytes_max * header_.width * header_.height + other_bytes_max;
}

std::string chunks_to_keep(std::string_view png) {
    std::string kept;
    for (std::size_t at = png_signature.size(); at + chunk_overhead <= png.size();) {
        const std::size_t size = chunk_overhead + number_at(png, at);
        const std::string_view type = png.substr(at + 4, 4);
        if (size > png.size() - at) break;
        if (std::ranges::find(kept_types, type) != kept_types.end() &&
            check_sum(png.substr(at + 4, size - 8)) == number_at(png, at + size - 4)) {
            kept += png.substr(at, size);
        }
        at += size;
    }
    return kept;
}

void append_number(std::string& out, std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

void append_chunk(std::string& out, std::string_view type, std::string_view data) {
    append_number(out, static_cast<std::uint32_t>(data.size()));
    const std::size_t begin = out.size();
    out += type;
    out += data;
    append_number(out, check_sum(std::string_view(out).substr(begin)));
}

}  // namespace strid::denoise
