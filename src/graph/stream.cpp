// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/graph/stream.hpp>

namespace strid::graph {

OperatorInfo describe(Segments& segments, const OperatorOptions& options, const char* kind) {
    const std::size_t number = segments.described.size() + 1;
    segments.described.push_back(options.name.empty() ? fmt::format("{}-{}", kind, number)
                                                      : options.name);
    return {.name = segments.described.back(), .kind = kind, .parallelism = options.parallelism};
}

}  // namespace strid::graph
