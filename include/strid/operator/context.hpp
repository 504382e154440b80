// SPDX-License-Identifier: Apache-2.0
//
// What an operator's user code may know about itself.
#pragma once

#include <cstddef>
#include <string_view>

#include <strid/operator/counter.hpp>

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
    operators::CounterSet* counters = nullptr;  ///< The engine's.

    /// A count of the application's own, which reports, `--metrics` and the summary show by
    /// operator and name, of all replicas together. Takes a lock and looks the name up: to be
    /// asked for in `open`, and kept.
    [[nodiscard]] Counter counter(std::string_view counter_name) const {
        return counters == nullptr ? Counter{} : counters->counter(counter_name);
    }
};

}  // namespace strid
