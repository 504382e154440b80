// SPDX-License-Identifier: Apache-2.0
//
// One loop, by the team's parallel_for, OpenMP and oneTBB: out[i] = a[i] * 3 + 1, on numbers of 4
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace strid::bench {

using Numbers = std::vector<std::uint32_t>;

struct LoopContender {
    std::string name;
    std::function<void(const Numbers& in, Numbers& out)> run;
};

/// Ours first; those that this build has. Their threads live as long as the process.
std::vector<LoopContender> loop_contenders();

}  // namespace strid::bench
