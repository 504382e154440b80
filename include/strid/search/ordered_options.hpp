// SPDX-License-Identifier: Apache-2.0
//
// The choice that ordered sets and maps leave to a program. A value, for any thread.
#pragma once

#include <cstdint>

namespace strid::memory {

/// Where the elements of an ordered set or map are.
enum class Elements : std::uint8_t {
    move,  ///< In the nodes: least memory. Every change invalidates references and iterators.
    stay   ///< In memory of their own: a reference is valid until its element is erased, also over
           ///< rebuild() and defragment(); iterators are not. Keys are held twice.
};

}  // namespace strid::memory
