// SPDX-License-Identifier: Apache-2.0
#include "interleaved.hpp"

#include <cstring>
#include <utility>

namespace strid::denoise {

namespace {

constexpr std::size_t samples_at_once = 65'536;

template <SampleForm form>
std::uint16_t load(const unsigned char* at) noexcept {
    if constexpr (form == SampleForm::byte) return at[0];
    if constexpr (form == SampleForm::two_big_endian) {
        return static_cast<std::uint16_t>(at[0] << 8 | at[1]);
    }
    std::uint16_t sample = 0;
    std::memcpy(&sample, at, form == SampleForm::two_native ? sizeof sample : 0);
    return sample;
}

template <SampleForm form>
void store(std::uint16_t sample, unsigned char* at) noexcept {
    if constexpr (form == SampleForm::byte) at[0] = static_cast<unsigned char>(sample);
    if constexpr (form == SampleForm::two_native) std::memcpy(at, &sample, sizeof sample);
    if constexpr (form == SampleForm::two_big_endian) {
        at[0] = static_cast<unsigned char>(sample >> 8);
        at[1] = static_cast<unsigned char>(sample & 0xff);
    }
}

template <SampleForm form>
constexpr std::size_t sample_bytes = form == SampleForm::byte ? 1 : 2;

template <SampleForm form>
void split(const unsigned char* bytes, std::size_t channels, Plane& plane, const Loop& loop) {
    for_parts(loop, plane.samples.size(), samples_at_once, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            plane.samples[i] = load<form>(bytes + i * channels * sample_bytes<form>);
        }
    });
}

template <SampleForm form>
void join(const Plane& plane, std::size_t y, std::size_t channels, unsigned char* out) {
    const std::uint16_t* const samples = &plane.samples[y * plane.width];
    for (std::size_t x = 0; x < plane.width; ++x) {
        store<form>(samples[x], out + x * channels * sample_bytes<form>);
    }
}

/// `call` with the form as a constant.
template <class Call>
void with_form(SampleForm form, Call&& call) {
    switch (form) {
        case SampleForm::byte:
            return call.template operator()<SampleForm::byte>();
        case SampleForm::two_big_endian:
            return call.template operator()<SampleForm::two_big_endian>();
        case SampleForm::two_native:
            return call.template operator()<SampleForm::two_native>();
    }
}

}  // namespace

Picture split_pixels(const unsigned char* bytes, const ImageShape& shape, const Loop& loop) {
    Picture picture;
    picture.sample_max = shape.sample == SampleForm::byte ? 255 : 65'535;
    for (std::size_t i = 0; i < shape.channels; ++i) {
        Plane plane{shape.width, shape.height, Array<std::uint16_t>(shape.width * shape.height)};
        with_form(shape.sample, [&]<SampleForm form>() {
            split<form>(bytes + i * sample_bytes<form>, shape.channels, plane, loop);
        });
        picture.planes.push_back(std::move(plane));
    }
    return picture;
}

void join_row(const Picture& picture, std::size_t y, SampleForm wide, unsigned char* out) {
    with_form(picture.sample_max > 255 ? wide : SampleForm::byte, [&]<SampleForm form>() {
        for (std::size_t i = 0; i < picture.planes.size(); ++i) {
            join<form>(picture.planes[i], y, picture.planes.size(), out + i * sample_bytes<form>);
        }
    });
}

ImageShape shape_of(const Picture& picture, SampleForm wide) {
    const Plane& plane = picture.planes.front();
    return {plane.width, plane.height, picture.planes.size(),
            picture.sample_max > 255 ? wide : SampleForm::byte};
}

Picture rescaled(const Picture& picture, unsigned sample_max, const Loop& loop) {
    const std::uint64_t from = picture.sample_max;
    Picture result{
        .planes = picture.planes, .kept_planes = picture.kept_planes, .sample_max = sample_max};
    for (Plane& plane : result.planes) {
        for_parts(loop, plane.samples.size(), samples_at_once, [&](std::size_t b, std::size_t e) {
            for (std::size_t i = b; i < e; ++i) {
                const std::uint64_t sample = plane.samples[i];
                plane.samples[i] =
                    static_cast<std::uint16_t>((sample * sample_max + from / 2) / from);
            }
        });
    }
    return result;
}

}  // namespace strid::denoise
