// SPDX-License-Identifier: Apache-2.0
//
// The properties of the operator and of the run for the user code of an operator.
#pragma once

#include <cstddef>
#include <string_view>

#include <strid/operator/counter.hpp>

namespace strid {

class RunScope;

/// Passed to `open(const Context&)` and, as an optional last argument, to every callable. Valid for
/// the whole run; each replica has its own.
struct Context {
    std::string_view name;        ///< The operator's name in the graph.
    std::size_t replica = 0;      ///< This replica, from 0 to parallelism - 1.
    std::size_t parallelism = 1;  ///< Replicas of the operator.
    /// For results that must appear only if the whole run ends well (operator/run_scope.hpp);
    /// null outside a run.
    RunScope* run = nullptr;
    operators::CounterSet* counters = nullptr;  ///< Used by the engine.

    /// A counter of the application. Reports, `--metrics` and the summary show it by operator and
    /// name, added up over all replicas. Takes a lock and searches the name: call it in on(const
    /// Opened&), and keep the result.
    [[nodiscard]] Counter counter(std::string_view counter_name) const {
        return counters == nullptr ? Counter{} : counters->counter(counter_name);
    }
};

}  // namespace strid
