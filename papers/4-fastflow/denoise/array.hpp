// SPDX-License-Identifier: Apache-2.0
//
// A vector whose elements have no value until they are written: pages of a large one are then
// touched first by the threads that fill it, and none is written twice.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace strid::denoise {

template <class T>
class UninitialisedAllocator : public std::allocator<T> {
  public:
    template <class U>
    struct rebind {
        using other = UninitialisedAllocator<U>;
    };

    UninitialisedAllocator() = default;
    template <class U>
    explicit(false) UninitialisedAllocator(const UninitialisedAllocator<U>& /*other*/) noexcept {}

    template <class U, class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        if constexpr (sizeof...(Arguments) == 0) {
            ::new (static_cast<void*>(at)) U;
        } else {
            ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
        }
    }
};

template <class T>
    requires std::is_trivial_v<T>
using Array = std::vector<T, UninitialisedAllocator<T>>;

}  // namespace strid::denoise
