// SPDX-License-Identifier: Apache-2.0
#include "netpbm.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "image_error.hpp"

namespace strid::denoise {

namespace {

constexpr std::size_t header_bytes_max = 64U << 10;
constexpr std::size_t checked_at_once = 65'536;

bool is_space(char c) noexcept {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Numbers with spaces and comments between them.
class Numbers {
  public:
    enum class Status : std::uint8_t { number, at_end, no_number, too_large };

    Numbers(std::string_view text, std::size_t at) : text_(text), at_(at) {}

    /// A number that ends with the text is not taken: more digits may come.
    Status next(std::uint64_t most, std::uint64_t& number) {
        if (!skip()) return Status::at_end;
        const std::size_t begin = at_;
        number = 0;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
            number = number * 10 + static_cast<std::uint64_t>(text_[at_++] - '0');
            if (number > most) return Status::too_large;
        }
        if (at_ == text_.size()) return Status::at_end;
        const bool ends = is_space(text_[at_]) || text_[at_] == '#';
        return at_ != begin && ends ? Status::number : Status::no_number;
    }
    /// False at the end of the text.
    bool skip() {
        while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == '#')) {
            if (text_[at_] == '#') {
                at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
            } else {
                ++at_;
            }
        }
        return at_ < text_.size();
    }
    [[nodiscard]] std::size_t at() const noexcept { return at_; }

  private:
    std::string_view text_;
    std::size_t at_;
};

/// A comment behind the last number of a header is a part of it, and one white space ends it.
std::optional<std::size_t> end_of_header(std::string_view text, std::size_t at) {
    if (text[at] == '#') at = text.find_first_of("\r\n", at);
    if (at == std::string_view::npos || at == text.size()) return std::nullopt;
    return at + 1;
}

void check_samples(const Picture& picture, const Loop& loop) {
    for (const Plane& plane : picture.planes) {
        for_parts(loop, plane.samples.size(), checked_at_once, [&](std::size_t b, std::size_t e) {
            for (std::size_t i = b; i < e; ++i) {
                if (plane.samples[i] <= picture.sample_max) continue;
                throw ImageError(fmt::format("it has a sample of {}, more than {}",
                                             plane.samples[i], picture.sample_max));
            }
        });
    }
}

Picture read_plain(std::string_view bytes, const NetpbmHeader& header) {
    Picture picture{.sample_max = header.sample_max};
    const ImageShape& shape = header.shape;
    const std::size_t pixels = shape.width * shape.height;
    // A sample takes two bytes at the least, the last one of all perhaps one.
    if (bytes.size() - header.size_bytes + 1 < pixels * shape.channels * 2) {
        throw ImageError("a netpbm image that is cut off");
    }
    for (std::size_t i = 0; i < shape.channels; ++i) {
        picture.planes.push_back({shape.width, shape.height, Array<std::uint16_t>(pixels)});
    }
    const std::string ended = std::string(bytes) + '\n';
    Numbers numbers(ended, header.size_bytes);
    for (std::size_t i = 0; i < pixels * shape.channels; ++i) {
        std::uint64_t sample = 0;
        switch (numbers.next(header.sample_max, sample)) {
            case Numbers::Status::at_end:
                throw ImageError("a netpbm image that is cut off");
            case Numbers::Status::too_large:
                throw ImageError(
                    fmt::format("sample {} is more than {}", i + 1, header.sample_max));
            case Numbers::Status::no_number:
                throw ImageError(fmt::format("sample {} of a netpbm image is no number", i + 1));
            case Numbers::Status::number:
                break;
        }
        picture.planes[i % shape.channels].samples[i / shape.channels] =
            static_cast<std::uint16_t>(sample);
    }
    if (numbers.skip()) throw ImageError("a netpbm image with more samples than its size");
    return picture;
}

}  // namespace

std::optional<NetpbmHeader> read_netpbm_header(std::string_view bytes, std::uint64_t pixels_max) {
    constexpr std::uint64_t side_max = 0x7fff'ffff;
    constexpr std::uint64_t largest_sample = 65'535;
    constexpr std::size_t magic_bytes = 2;
    if (bytes.size() <= magic_bytes) return std::nullopt;
    if (!is_space(bytes[magic_bytes]) && bytes[magic_bytes] != '#') {
        throw ImageError("a netpbm image without a header");
    }
    const std::string_view text = bytes.substr(0, header_bytes_max);
    Numbers numbers(text, magic_bytes);
    std::uint64_t values[3] = {};
    for (std::uint64_t& value : values) {
        const std::uint64_t most = &value == &values[2] ? largest_sample : side_max;
        const auto status = numbers.next(most, value);
        if (status == Numbers::Status::at_end) {
            if (bytes.size() < header_bytes_max) return std::nullopt;
            throw ImageError("a netpbm image whose header has no end");
        }
        if (status != Numbers::Status::number || value == 0) {
            throw ImageError(
                fmt::format("a netpbm image whose header has no number from 1 to {} "
                            "where one must be",
                            most));
        }
    }
    const auto end = end_of_header(text, numbers.at());
    if (!end) return std::nullopt;
    if (values[0] * values[1] > pixels_max) {
        throw ImageError(fmt::format("an image of {}x{} pixels, more than {} (--pixels-max)",
                                     values[0], values[1], pixels_max));
    }
    const char kind = bytes[1];
    return NetpbmHeader{
        .shape = {.width = values[0],
                  .height = values[1],
                  .channels = kind == '3' || kind == '6' ? 3U : 1U,
                  .sample = values[2] > 255 ? SampleForm::two_big_endian : SampleForm::byte},
        .sample_max = static_cast<unsigned>(values[2]),
        .is_plain = kind == '2' || kind == '3',
        .size_bytes = *end};
}

Picture read_netpbm(std::string_view bytes, std::uint64_t pixels_max, const Loop& loop) {
    const auto header = read_netpbm_header(bytes, pixels_max);
    if (!header) throw ImageError("a netpbm image that is cut off");
    if (header->is_plain) return read_plain(bytes, *header);
    if (bytes.size() < header->image_bytes()) throw ImageError("a netpbm image that is cut off");
    if (bytes.size() > header->image_bytes()) {
        throw ImageError("a netpbm image with more samples than its size");
    }
    const auto* const samples =
        reinterpret_cast<const unsigned char*>(bytes.data()) + header->size_bytes;
    Picture picture = split_pixels(samples, header->shape, loop);
    picture.sample_max = header->sample_max;
    check_samples(picture, loop);
    return picture;
}

std::string write_netpbm(const Picture& picture) {
    if (picture.kept_planes != 0) {
        throw ImageError("netpbm has no alpha: .png and .tif have");
    }
    const ImageShape shape = shape_of(picture, SampleForm::two_big_endian);
    std::string out = fmt::format("P{}\n{} {}\n{}\n", shape.channels == 1 ? 5 : 6, shape.width,
                                  shape.height, picture.sample_max);
    const std::size_t begin = out.size();
    out.resize(begin + shape.row_bytes() * shape.height);
    auto* const rows = reinterpret_cast<unsigned char*>(out.data()) + begin;
    for (std::size_t y = 0; y < shape.height; ++y) {
        join_row(picture, y, shape.sample, rows + y * shape.row_bytes());
    }
    return out;
}

}  // namespace strid::denoise
