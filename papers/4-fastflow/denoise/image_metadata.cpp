// SPDX-License-Identifier: Apache-2.0
#include "image_metadata.hpp"

#include <cmath>
#include <cstdint>

#include <zlib.h>

#include "png_chunks.hpp"

namespace strid::denoise {

namespace {

using namespace std::literals;

constexpr std::size_t profile_bytes_max = 16U << 20;
constexpr std::size_t orientation_tag = 0x112;

/// A number of the byte order that `exif` names; 0 beyond its end.
std::size_t exif_number(std::string_view exif, std::size_t at, std::size_t bytes) noexcept {
    if (at > exif.size() || bytes > exif.size() - at) return 0;
    const bool is_little = exif.starts_with('I');
    std::size_t number = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
        const std::size_t from = is_little ? at + bytes - 1 - i : at + i;
        number = number << 8 | static_cast<unsigned char>(exif[from]);
    }
    return number;
}

std::uint32_t png_number(std::string_view bytes) noexcept {
    return static_cast<std::uint32_t>(exif_number(bytes, 0, 4));
}

/// The profile of iCCP: a name, a zero, a zero for deflate, and the compressed profile.
std::string profile_of_chunk(std::string_view data) {
    const std::size_t name = data.find('\0');
    if (name == std::string_view::npos || name + 2 > data.size() || data[name + 1] != '\0')
        return {};
    data.remove_prefix(name + 2);
    std::string profile(profile_bytes_max, '\0');
    uLongf size = profile.size();
    const int status =
        ::uncompress(reinterpret_cast<Bytef*>(profile.data()), &size,
                     reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size()));
    profile.resize(status == Z_OK ? size : 0);
    return profile;
}

std::string chunk_of_profile(std::string_view profile) {
    uLongf size = ::compressBound(static_cast<uLong>(profile.size()));
    std::string packed(size, '\0');
    const int status = ::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                                  reinterpret_cast<const Bytef*>(profile.data()),
                                  static_cast<uLong>(profile.size()));
    packed.resize(status == Z_OK ? size : 0);
    return packed.empty() ? packed : "ICC profile\0\0"s.append(packed);
}

/// An Exif of one field.
std::string exif_of_orientation(unsigned orientation) {
    std::string exif("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"sv);
    exif += static_cast<char>(orientation);
    return exif.append(6, '\0');  // the rest of the field; no further directory
}

}  // namespace

ImageMetadata metadata_of_png(std::string_view png) {
    constexpr std::size_t head = 8;  // length and type
    constexpr std::size_t overhead = 12;
    ImageMetadata metadata;
    const std::string chunks = chunks_to_keep(png);
    for (std::string_view rest = chunks; rest.size() >= overhead;) {
        const std::size_t size = png_number(rest);
        const std::string_view type = rest.substr(4, 4);
        const std::string_view data = rest.substr(head, size);
        if (type == "eXIf"sv) metadata.exif = data;
        if (type == "iCCP"sv) metadata.profile = profile_of_chunk(data);
        if (type == "pHYs"sv && size == 9 && data[8] == 1) {
            metadata.x_per_metre = png_number(data);
            metadata.y_per_metre = png_number(data.substr(4));
        }
        rest.remove_prefix(size + overhead);
    }
    metadata.orientation = orientation_of_exif(metadata.exif);
    return metadata;
}

std::string png_chunks_of(const ImageMetadata& metadata) {
    std::string chunks;
    if (const std::string profile = chunk_of_profile(metadata.profile);
        !metadata.profile.empty() && !profile.empty()) {
        append_chunk(chunks, "iCCP", profile);
    }
    constexpr double most = 0x7fff'ffff;
    const double x = std::round(metadata.x_per_metre);
    const double y = std::round(metadata.y_per_metre);
    if (x >= 1 && y >= 1 && x <= most && y <= most) {
        std::string data;
        append_number(data, static_cast<std::uint32_t>(x));
        append_number(data, static_cast<std::uint32_t>(y));
        append_chunk(chunks, "pHYs", data + '\x01');
    }
    if (!metadata.exif.empty()) {
        append_chunk(chunks, "eXIf", metadata.exif);
    } else if (metadata.orientation != 1) {
        append_chunk(chunks, "eXIf", exif_of_orientation(metadata.orientation));
    }
    return chunks;
}

unsigned orientation_of_exif(std::string_view exif) noexcept {
    constexpr std::size_t field_bytes = 12;
    const std::size_t directory = exif_number(exif, 4, 4);
    const std::size_t fields = exif_number(exif, directory, 2);
    for (std::size_t i = 0; i < fields; ++i) {
        const std::size_t at = directory + 2 + i * field_bytes;
        if (at > exif.size()) break;
        if (exif_number(exif, at, 2) != orientation_tag) continue;
        const std::size_t value = exif_number(exif, at + 8, 2);
        return value >= 1 && value <= 8 ? static_cast<unsigned>(value) : 1;
    }
    return 1;
}

}  // namespace strid::denoise
