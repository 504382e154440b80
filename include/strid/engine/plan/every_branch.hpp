// SPDX-License-Identifier: Apache-2.0
//
// The choice of a `tee`.
#pragma once

#include <array>
#include <cstddef>

namespace strid::graph {

/// The choice of a `tee` for each record: all branches.
template <std::size_t count>
struct EveryBranch {
    template <class T>
    constexpr const std::array<std::size_t, count>& operator()(const T&) const noexcept {
        return all;
    }
    static constexpr std::array<std::size_t, count> all = [] {
        std::array<std::size_t, count> branches{};
        for (std::size_t i = 0; i != count; ++i) branches[i] = i;
        return branches;
    }();
};

}  // namespace strid::graph
