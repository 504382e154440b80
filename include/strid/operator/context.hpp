// SPDX-License-Identifier: Apache-2.0
//
// What an operator's user code may know about itself.
#pragma once

#include <cstddef>
#include <string_view>

namespace strid {

class RunScope;

/// Handed to `open(const Context&)` and, as an optional last argument, to every callable.
/// Valid for the whole run; each replica has its own.
struct Context {
    std::string_view name;        ///< The operator's name in the graph.
    std::size_t replica = 0;      ///< This replica, from 0 to parallelism - 1.
    std::size_t parallelism = 1;  ///< Replicas of the operator.
    /// For what is to count only where the whole run ends well (operator/run_scope.hpp); null
    /// outside a run.
    RunScope* run = nullptr;
};

}  // namespace strid
