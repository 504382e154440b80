// SPDX-License-Identifier: Apache-2.0
//
// The programmer's patterns (paper 4): nodes, pipelines, farms and loops as values that compose
// without limit, and run().
//
//     auto squares = pipeline(source(numbers), farm(square), print);
//     run(squares);
//
// A pattern defines how work is divided; the work itself is a function of one task, or an operator
// (pattern/node_work.hpp). A pattern is copied for each run and each replica.
#pragma once

#include <concepts>
#include <optional>

#include <strid/engine/pattern/builder.hpp>
#include <strid/engine/pattern/network.hpp>
#include <strid/pattern/composition.hpp>
#include <strid/pattern/pattern_options.hpp>
#include <strid/pattern/pattern_progress.hpp>

namespace strid::pattern {

/// Runs a pattern to its end. It must begin with a source and end with a node without results.
/// Throws OperatorError, which names the node and carries the exception of its function. Returns
/// the figures of the nodes.
template <class Pattern>
Report run(const Pattern& pattern, const Options& options = {}) {
    Network network(options);
    using Behind = decltype(detail::build(network, Ends<Nothing>{}, pattern));
    static_assert(
        std::same_as<Behind, Ends<Nothing>> || std::same_as<Behind, Ends<detail::RefusedTasks>>,
        "the last node of a pattern that runs by itself takes tasks and makes none: "
        "void f(T)");
    (void)detail::build(network, Ends<Nothing>{}, pattern);
    network.start();
    {
        std::optional<ProgressLine> line;
        if (options.show_progress) line.emplace([&network] { return network.report(); });
        network.wait();
    }
    return network.report();
}

}  // namespace strid::pattern
