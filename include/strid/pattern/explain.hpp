// SPDX-License-Identifier: Apache-2.0
//
// Explains a pattern as text and as plain values, without running it. The pattern is built for that
// with copies of its functions; no thread is started.
//
//     std::cout << explain(pipeline(source(numbers), farm(square), print));
//     std::cout << explain<Block>(ordered_farm(compress));    // as an accelerator of Blocks
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include <strid/engine/pattern/doors.hpp>
#include <strid/pattern/description.hpp>
#include <strid/pattern/pattern.hpp>

namespace strid::pattern {

/// Describes what run(pattern, options) would run. Throws GraphError.
template <class Pattern>
[[nodiscard]] NetworkDescription describe(const Pattern& pattern, const Options& options = {}) {
    Network network(options);
    (void)detail::build(network, Ends<Nothing>{}, pattern);
    return network.description();
}

/// Describes what accelerate<T>(pattern, options) would run. Throws GraphError.
template <TaskType T, class Pattern>
[[nodiscard]] NetworkDescription describe(const Pattern& pattern, const Options& options = {}) {
    Network network(options);
    auto& entrance = network.add(std::make_unique<Entrance<T>>());
    auto behind = detail::build(network, Ends<T>{{{&entrance.output(), &entrance}}}, pattern);
    [&]<class U>(const Ends<U>& ends) {
        if constexpr (!std::is_same_v<U, Nothing> && !std::is_same_v<U, detail::RefusedTasks>) {
            auto& exit = network.add(std::make_unique<Exit<U>>());
            network.connect(ends, exit.input(), exit);
        }
    }(behind);
    return network.description();
}

/// For a person: the parts of the pattern, what its nodes take and make, its lanes and what bounds
/// them, and its threads. Throws GraphError.
template <class Pattern>
[[nodiscard]] std::string explain(const Pattern& pattern, const Options& options = {}) {
    return explain(describe(pattern, options));
}
/// The same for a pattern whose first node takes tasks of type T.
template <TaskType T, class Pattern>
[[nodiscard]] std::string explain(const Pattern& pattern, const Options& options = {}) {
    return explain(describe<T>(pattern, options));
}

}  // namespace strid::pattern
