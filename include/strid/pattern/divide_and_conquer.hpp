// SPDX-License-Identifier: Apache-2.0
//
// Problems that divide into smaller ones of their kind (paper 4, section 1.1):
//
//     const auto sorted = divide_and_conquer(team, numbers,
//         [](const Numbers& n) { return n.size() < 1'000; },   // small enough
//         sort_alone, split_in_two, merge_two);
//
// The parts of a problem are shared with the threads of the team that have nothing to do; a thread
// whose own parts are taken takes part in others until they are done. Deep recursions are safe:
// when 64 problems lie open, further ones are solved by the thread that has them.
//
// Threads: any may begin; functions are called by any of the team, also at once, and so must not
// change what they share.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/pattern/parallel_for.hpp>
#include <strid/pattern/team.hpp>

namespace strid::pattern {

/// `is_small(problem)`: whether `solve(problem)` gives its result. Else `divide(problem)` gives its
/// parts, a container, and `conquer(std::vector<Result> of the parts)` the result. Throws what a
/// function throws.
template <class Problem, std::predicate<const Problem&> IsSmall, std::invocable<Problem> Solve,
          std::invocable<Problem> Divide, class Conquer>
[[nodiscard]] auto divide_and_conquer(Team& team, Problem problem, const IsSmall& is_small,
                                      const Solve& solve, const Divide& divide,
                                      const Conquer& conquer) {
    using Result = std::remove_cvref_t<std::invoke_result_t<const Solve&, Problem>>;
    const auto result_of = [&](auto& self, Problem part) -> Result {
        if (is_small(std::as_const(part))) return solve(std::move(part));
        auto parts = divide(std::move(part));
        std::vector<std::optional<Result>> results(std::size(parts));
        detail::share_range(team, 0, results.size(), {}, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                results[i].emplace(self(self, std::move(parts[i])));
            }
        });
        std::vector<Result> all;
        all.reserve(results.size());
        for (auto& result : results) all.push_back(std::move(*result));
        return conquer(std::move(all));
    };
    return result_of(result_of, std::move(problem));
}

/// Calls all of them, maybe at once. Throws what one throws when those that have begun are over;
/// others are not called.
template <std::invocable... F>
void parallel_invoke(Team& team, F&&... functions) {
    const auto call = [&](std::size_t chosen) {
        std::size_t number = 0;
        ((number++ == chosen ? static_cast<void>(functions()) : void()), ...);
    };
    detail::share_range(team, 0, sizeof...(F), {}, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) call(i);
    });
}

}  // namespace strid::pattern
