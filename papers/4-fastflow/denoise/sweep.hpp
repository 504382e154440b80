// SPDX-License-Identifier: Apache-2.0
//
// The inner loop of phase 2 (restoration.hpp): one step of noisy samples of one colour. Functions
// without state; any thread, for lists that have no sample in common.
//
// Invariant: the result is that of single precision of IEEE 754 in the order that is written here,
// with any length of vectors.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace strid::denoise {

/// Changes are summed in whole parts of a grey level: the same in any order.
inline constexpr double change_units = 65'536;

struct Sweep {
    float* values = nullptr;                 ///< Grey levels, row by row.
    const std::uint16_t* samples = nullptr;  ///< As they were read.
    std::ptrdiff_t pitch = 0;
    std::ptrdiff_t height = 0;
    float edge = 0;
    float relaxation = 0;
    float fidelity = 0;
};

namespace detail {

constexpr std::size_t vector_chunk = 64;

/// The values gathered for a chunk.
struct alignas(64) Gathered {
    std::array<float, vector_chunk> value, up, left, right, down, pull, next;
};

/// The step of one sample with four neighbours: the weighted mean of the differences, with weights
/// 1 / sqrt(t^2 + edge), over one common denominator: a division costs as much as a root.
[[gnu::always_inline]] inline float stepped(float value, float up, float left, float right,
                                            float down, float pull, float edge, float relaxation) {
    const float t0 = up - value;
    const float t1 = left - value;
    const float t2 = right - value;
    const float t3 = down - value;
    const float s0 = std::sqrt(t0 * t0 + edge);
    const float s1 = std::sqrt(t1 * t1 + edge);
    const float s2 = std::sqrt(t2 * t2 + edge);
    const float s3 = std::sqrt(t3 * t3 + edge);
    const float s01 = s0 * s1;
    const float s23 = s2 * s3;
    const float above = (t0 * s1 + t1 * s0) * s23 + (t2 * s3 + t3 * s2) * s01 + pull * (s01 * s23);
    const float below = (s0 + s1) * s23 + (s2 + s3) * s01;
    const float next = value + relaxation * above / below;
    return std::min(std::max(next, 0.0F), 255.0F);
}

[[gnu::always_inline]] inline std::uint64_t sweep_inner(const Sweep& sweep,
                                                        std::span<const std::int32_t> list) {
    Gathered at;
    at.pull.fill(0);
    std::uint64_t change = 0;
    for (std::size_t first = 0; first < list.size(); first += vector_chunk) {
        const std::size_t n = std::min(vector_chunk, list.size() - first);
        const std::int32_t* const indices = &list[first];
        for (std::size_t i = 0; i < n; ++i) {
            const float* const value = sweep.values + indices[i];
            at.value[i] = *value;
            at.up[i] = *(value - sweep.pitch);
            at.left[i] = *(value - 1);
            at.right[i] = *(value + 1);
            at.down[i] = *(value + sweep.pitch);
        }
        if (sweep.fidelity != 0) {
            for (std::size_t i = 0; i < n; ++i) {
                at.pull[i] = sweep.samples[indices[i]] == 0 ? -sweep.fidelity : sweep.fidelity;
            }
        }
        std::int32_t part = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const float value = at.value[i];
            const float next = stepped(value, at.up[i], at.left[i], at.right[i], at.down[i],
                                       at.pull[i], sweep.edge, sweep.relaxation);
            at.next[i] = next;
            part += static_cast<std::int32_t>(std::fabs(next - value) *
                                              static_cast<float>(change_units));
        }
        for (std::size_t i = 0; i < n; ++i) sweep.values[indices[i]] = at.next[i];
        change += static_cast<std::uint64_t>(part);
    }
    return change;
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] inline std::uint64_t sweep_inner_avx2(const Sweep& sweep,
                                                              std::span<const std::int32_t> list) {
    return sweep_inner(sweep, list);
}
#endif

}  // namespace detail

/// Steps samples with four neighbours; returns the sum of the changes.
inline std::uint64_t sweep_inner(const Sweep& sweep, std::span<const std::int32_t> list) {
#if defined(__x86_64__)
    static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
    if (has_avx2) return detail::sweep_inner_avx2(sweep, list);
#endif
    return detail::sweep_inner(sweep, list);
}

/// The same for samples at the border, which may have fewer.
inline std::uint64_t sweep_border(const Sweep& sweep, std::span<const std::int32_t> list) {
    std::uint64_t change = 0;
    for (const std::int32_t index : list) {
        const std::ptrdiff_t x = index % sweep.pitch;
        const std::ptrdiff_t y = index / sweep.pitch;
        float* const at = sweep.values + index;
        float above = 0;
        float below = 0;
        const auto add = [&](bool is_there, std::ptrdiff_t offset) {
            if (!is_there) return;
            const float t = at[offset] - *at;
            const float s = std::sqrt(t * t + sweep.edge);
            above += t / s;
            below += 1.0F / s;
        };
        add(y > 0, -sweep.pitch);
        add(x > 0, -1);
        add(x + 1 < sweep.pitch, 1);
        add(y + 1 < sweep.height, sweep.pitch);
        if (below == 0) continue;
        if (sweep.fidelity != 0) {
            above += sweep.samples[index] == 0 ? -sweep.fidelity : sweep.fidelity;
        }
        const float next = std::min(std::max(*at + sweep.relaxation * above / below, 0.0F), 255.0F);
        change +=
            static_cast<std::uint64_t>(std::fabs(next - *at) * static_cast<float>(change_units));
        *at = next;
    }
    return change;
}

}  // namespace strid::denoise
