// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/graph/stream.hpp>

namespace strid::graph {

OperatorInfo describe(Segments& segments, const OperatorOptions& options, const char* kind) {
    const std::size_t number = ++segments.operators_named;
    return {.name = options.name.empty() ? fmt::format("{}-{}", kind, number) : options.name,
            .kind = kind,
            .parallelism = options.parallelism};
}

}  // namespace strid::graph
