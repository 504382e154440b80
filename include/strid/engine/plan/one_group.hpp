// SPDX-License-Identifier: Apache-2.0
//
// The key of a stream that is one group. Plain values.
#pragma once

#include <cstdint>

namespace strid {

enum class OneGroup : std::uint8_t { all };

struct InOneGroup {
    template <class T>
    OneGroup operator()(const T&) const noexcept {
        return OneGroup::all;
    }
};

}  // namespace strid
