// SPDX-License-Identifier: Apache-2.0
#include "y4m_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::denoise {

namespace {

using namespace std::string_view_literals;

std::size_t read_size(std::string_view text, std::string_view what) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    constexpr std::size_t most = 1U << 30;
    if (error != std::errc() || end != text.data() + text.size() || size == 0 || size > most) {
        throw Error(fmt::format("its {} is '{}', no number from 1 to {}", what, text, most));
    }
    return size;
}

struct Colour {
    std::string_view name;
    std::size_t across, down;  ///< Pixels for one sample of a colour; 0: there is none.
    bool alpha;
};
// Longer names first: those below begin as they do.
constexpr std::array colours = {
    Colour{"444alpha"sv, 1, 1, true},  Colour{"420jpeg"sv, 2, 2, false},
    Colour{"420mpeg2"sv, 2, 2, false}, Colour{"420paldv"sv, 2, 2, false},
    Colour{"420"sv, 2, 2, false},      Colour{"411"sv, 4, 1, false},
    Colour{"422"sv, 2, 1, false},      Colour{"444"sv, 1, 1, false},
    Colour{"mono"sv, 0, 0, false}};

/// "", "p10" or, of mono, "10"; 0 where it is none of them.
unsigned read_depth(std::string_view text, bool is_grey) {
    if (text.empty()) return 8;
    if (!is_grey) {
        if (!text.starts_with('p')) return 0;
        text.remove_prefix(1);
    }
    constexpr std::array depths = {9U, 10U, 12U, 14U, 16U};
    for (const unsigned depth : depths) {
        if (text == std::to_string(depth)) return depth;
    }
    return 0;
}

void set_colour(FrameLayout& layout, std::string_view text) {
    const FrameLayout::Size full = layout.planes.front();
    for (const Colour& colour : colours) {
        if (!text.starts_with(colour.name)) continue;
        const unsigned depth = read_depth(text.substr(colour.name.size()), colour.across == 0);
        if (depth == 0) break;
        layout.sample_bytes = depth > 8 ? 2 : 1;
        layout.sample_max = (1U << depth) - 1;
        if (colour.across != 0) {
            const FrameLayout::Size part{(full.width + colour.across - 1) / colour.across,
                                         (full.height + colour.down - 1) / colour.down};
            layout.planes.insert(layout.planes.end(), 2, part);
        }
        if (colour.alpha) layout.planes.push_back(full);
        layout.kept_planes = colour.alpha ? 1 : 0;
        return;
    }
    throw Error(fmt::format("its colour space is '{}', which is none that is known here", text));
}

}  // namespace

std::size_t FrameLayout::frame_bytes() const noexcept {
    std::size_t samples = 0;
    for (const Size& plane : planes) samples += plane.width * plane.height;
    return samples * sample_bytes;
}

FrameLayout read_y4m_header(std::string_view line, std::uint64_t pixels_max) {
    FrameLayout layout;
    FrameLayout::Size size{0, 0};
    std::string_view colour = "420";
    line.remove_prefix(std::min(line.find(' '), line.size()));
    while (!line.empty()) {
        line.remove_prefix(1);
        const std::string_view word = line.substr(0, line.find(' '));
        line.remove_prefix(word.size());
        if (word.starts_with('W')) size.width = read_size(word.substr(1), "width");
        if (word.starts_with('H')) size.height = read_size(word.substr(1), "height");
        if (word.starts_with('C')) colour = word.substr(1);
    }
    if (size.width == 0) throw Error("it says no width");
    if (size.height == 0) throw Error("it says no height");
    if (size.width * size.height > pixels_max) {
        throw Error(fmt::format("it says {}x{} pixels, more than {} (--pixels-max)", size.width,
                                size.height, pixels_max));
    }
    layout.planes.push_back(size);
    set_colour(layout, colour);
    return layout;
}

}  // namespace strid::denoise
