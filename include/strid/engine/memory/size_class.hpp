// SPDX-License-Identifier: Apache-2.0
//
// The sizes in which memory is allocated: every multiple of 16 bytes up to 128, then four sizes per
// doubling, so that at most a fifth of an object is lost to rounding. The slab allocator has those
// up to 4 KiB.
//
// Invariant: index_of(n) is the smallest class whose size is at least n; sizes are multiples of 16.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace strid::memory {

namespace detail {

/// Bytes of a chunk of class `index`.
constexpr std::size_t size_class_bytes(std::size_t index) noexcept {
    if (index < 8) return (index + 1) * 16;
    const std::size_t base = std::size_t{128} << ((index - 8) / 4);
    return base + base / 4 * ((index - 8) % 4 + 1);
}

/// The smallest class of at least `bytes`, however many; 0 bytes count as 1.
constexpr std::size_t size_class_index(std::size_t bytes) noexcept {
    const std::size_t last = std::max(bytes, std::size_t{1}) - 1;
    if (last < 128) return last / 16;
    const auto doubling = static_cast<std::size_t>(std::bit_width(last)) - 8;
    return 8 + 4 * doubling + (last >> (doubling + 5)) % 4;
}

}  // namespace detail

class SizeClasses {
  public:
    static constexpr std::size_t step_bytes = 16;
    static constexpr std::size_t bytes_max = 4096;
    static constexpr std::size_t count = 8 + 4 * 5;

    /// Bytes of a chunk of class `index`.
    [[nodiscard]] static constexpr std::size_t bytes_of(std::size_t index) noexcept {
        return detail::size_class_bytes(index);
    }

    /// The class for `bytes` <= bytes_max; 0 bytes count as 1.
    [[nodiscard]] static std::size_t index_of(std::size_t bytes) noexcept {
        return index_by_steps[(bytes + step_bytes - 1) / step_bytes];
    }

    /// The smallest class for `bytes` whose size is a multiple of `alignment`; `count` if none is.
    [[nodiscard]] static std::size_t index_of(std::size_t bytes, std::size_t alignment) noexcept {
        std::size_t index = index_of(bytes);
        while (index < count && bytes_of(index) % alignment != 0) ++index;
        return index;
    }

  private:
    static constexpr auto index_by_steps = [] {
        std::array<std::uint8_t, bytes_max / step_bytes + 1> indexes{};
        std::uint8_t index = 0;
        for (std::size_t steps = 0; steps < indexes.size(); ++steps) {
            while (detail::size_class_bytes(index) < steps * step_bytes) ++index;
            indexes[steps] = index;
        }
        return indexes;
    }();
};
static_assert(detail::size_class_bytes(SizeClasses::count - 1) == SizeClasses::bytes_max);

}  // namespace strid::memory
