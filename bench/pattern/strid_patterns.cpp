// SPDX-License-Identifier: Apache-2.0
#include "strid_patterns.hpp"

#include <optional>

#include <strid/pattern/pattern.hpp>

namespace strid::bench {

namespace {

using namespace pattern;
using Number = std::uint64_t;

Options on_threads(std::size_t threads) {
    Options options;
    options.execution.workers = threads;
    return options;
}

}  // namespace

std::uint64_t strid_farm(const FarmLoad& load) {
    Number sum = 0;
    const auto numbers = [next = Number{0}, count = load.tasks]() mutable -> std::optional<Number> {
        if (next == count) return std::nullopt;
        return next++;
    };
    const auto work = [steps = load.steps](Number n) { return churn(n, steps); };
    run(pipeline(source(numbers), farm(work, FarmOptions{.workers = load.threads}),
                 [&sum](Number n) { sum += n; }),
        on_threads(load.threads));
    return sum;
}

std::uint64_t strid_ring(const RingLoad& load) {
    Number sum = 0;
    const auto start = [given = false]() mutable -> std::optional<Number> {
        if (given) return std::nullopt;
        given = true;
        return 0;
    };
    const auto first =
        node<Number>([head = RingHead(load)](Number, auto& emit) mutable { head(emit); });
    const auto last = node<Number>([&sum, steps = load.steps](Number n, auto& emit) {
        sum += churn(n, steps);
        emit.again(n);
    });
    const auto stage = [steps = load.steps](Number n) { return churn(n, steps); };
    AnyPattern<Number, Number> head = first;
    for (std::size_t i = 2; i < load.stages; ++i) head = pipeline(head, stage);
    run(pipeline(source(start), iterate(pipeline(head, last)), [](Number) {}),
        on_threads(load.threads));
    return sum;
}

}  // namespace strid::bench
