// SPDX-License-Identifier: Apache-2.0
//
// The slots of a ring: a fixed array of live objects in its own cache lines.
//
// Owner: the ring; the object is immovable, and one thread builds and destroys it.
//
// Invariant: every slot holds a live `T` from construction to destruction (value-initialised, later
// assigned to or moved from), so that spans of slots may be passed out. The array starts at a
// line's boundary, and no other object is in its lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <strid/engine/base/cache_line.hpp>

namespace strid::channel::detail {

template <class T>
class SlotArray {
  public:
    explicit SlotArray(std::size_t count)
        : lines_(std::make_unique_for_overwrite<Line[]>((count * sizeof(T) + sizeof(Line) - 1) /
                                                        sizeof(Line))),
          slots_(reinterpret_cast<T*>(lines_.get())),
          count_(count) {
        std::uninitialized_value_construct_n(slots_, count_);
    }
    ~SlotArray() { std::destroy_n(slots_, count_); }
    SlotArray(const SlotArray&) = delete;
    SlotArray& operator=(const SlotArray&) = delete;

    [[nodiscard]] T* data() const noexcept { return slots_; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

  private:
    static constexpr std::size_t alignment = alignof(T) > cache_line_bytes ? alignof(T)
                                                                           : cache_line_bytes;
    struct alignas(alignment) Line {
        std::byte bytes[alignment];
    };

    std::unique_ptr<Line[]> lines_;
    T* slots_;
    std::size_t count_;
};

}  // namespace strid::channel::detail
