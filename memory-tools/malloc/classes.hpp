// SPDX-License-Identifier: Apache-2.0
//
// The size classes of slabs: those of the room `memory`, up to 32 KiB; and for each class the units
// of a slab and the number of free blocks that a heap keeps at hand.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <strid/engine/memory/size_class.hpp>

#include "layout.hpp"

namespace strid::slab_malloc {

inline constexpr std::size_t class_step_bytes = 16;
inline constexpr std::size_t class_count = memory::detail::size_class_index(small_bytes_max) + 1;
inline constexpr std::size_t stack_blocks_max = 128;
inline constexpr std::size_t stack_bytes_max = std::size_t{16} << 10;
inline constexpr std::size_t stack_blocks_min = 4;
inline constexpr std::size_t one_unit_bytes_max = 2048;
inline constexpr std::size_t many_units = 8;

constexpr std::size_t class_bytes(std::size_t index) noexcept {
    return memory::detail::size_class_bytes(index);
}
static_assert(class_bytes(class_count - 1) == small_bytes_max);

inline constexpr auto class_by_steps = [] {
    std::array<std::uint8_t, small_bytes_max / class_step_bytes + 1> indexes{};
    for (std::size_t steps = 0; steps < indexes.size(); ++steps) {
        indexes[steps] =
            static_cast<std::uint8_t>(memory::detail::size_class_index(steps * class_step_bytes));
    }
    return indexes;
}();

/// The smallest class of at least `bytes` <= small_bytes_max; 0 bytes count as 1.
inline std::size_t class_of(std::size_t bytes) noexcept {
    return class_by_steps[(bytes + class_step_bytes - 1) / class_step_bytes];
}

/// The free blocks of a class that a heap has at hand, at most.
constexpr std::size_t stack_capacity(std::size_t index) noexcept {
    return std::clamp(stack_bytes_max / class_bytes(index), stack_blocks_min, stack_blocks_max);
}

constexpr std::size_t slab_units(std::size_t index) noexcept {
    return class_bytes(index) <= one_unit_bytes_max ? 1 : many_units;
}

}  // namespace strid::slab_malloc
