// SPDX-License-Identifier: Apache-2.0
#include "added_noise.hpp"

#include <cmath>

namespace strid::denoise {

namespace {

constexpr std::size_t noisy_at_once = 65'536;

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
}

}  // namespace

void add_noise(Picture& picture, const AddedNoise& noise, std::uint64_t frame, const Loop& loop) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
    constexpr double draws = 0x1p32;
    const auto noisy = static_cast<std::uint64_t>(std::llround(noise.share * draws));
    const auto salt = noisy / 2;
    for (std::size_t i = 0; i < picture.changed_planes(); ++i) {
        Plane& plane = picture.planes[i];
        const std::uint64_t stream = mixed(mixed(mixed(noise.seed + golden) + frame) + i);
        for_parts(loop, plane.samples.size(), noisy_at_once, [&](std::size_t b, std::size_t e) {
            for (std::size_t at = b; at < e; ++at) {
                const std::uint64_t draw = mixed(stream + golden * (at + 1)) >> 32;
                if (draw >= noisy) continue;
                plane.samples[at] =
                    static_cast<std::uint16_t>(draw < salt ? picture.sample_max : 0U);
            }
        });
    }
}

}  // namespace strid::denoise
