// SPDX-License-Identifier: Apache-2.0
#include "tbb_patterns.hpp"

#include <memory>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/parallel_pipeline.h>

namespace strid::bench::peers {

namespace {
constexpr std::size_t tokens_max = 512;
}

std::uint64_t tbb_parallel_pipeline(std::uint64_t tasks, std::size_t stages, bool parallel) {
    std::uint64_t next = 0;
    std::uint64_t sum = 0;
    using Number = std::uint64_t;
    auto chain = tbb::make_filter<void, Number>(tbb::filter_mode::serial_in_order,
                                                [&](tbb::flow_control& control) -> Number {
                                                    if (next == tasks) {
                                                        control.stop();
                                                        return 0;
                                                    }
                                                    return next++;
                                                });
    if (parallel) {
        chain &= tbb::make_filter<Number, Number>(tbb::filter_mode::parallel,
                                                  [](Number n) { return n; });
    }
    for (std::size_t i = 2; i < stages; ++i) {
        chain &= tbb::make_filter<Number, Number>(tbb::filter_mode::serial_in_order,
                                                  [](Number n) { return n; });
    }
    tbb::parallel_pipeline(tokens_max,
                           chain & tbb::make_filter<Number, void>(tbb::filter_mode::serial_in_order,
                                                                  [&](Number n) { sum += n; }));
    return sum;
}

std::uint64_t tbb_flow_graph(std::uint64_t tasks, std::size_t stages, bool parallel) {
    namespace flow = tbb::flow;
    using Number = std::uint64_t;
    using Stage = flow::function_node<Number, Number, flow::lightweight>;
    std::uint64_t next = 0;
    std::uint64_t sum = 0;
    flow::graph graph;
    flow::input_node<Number> input(graph, [&](tbb::flow_control& control) -> Number {
        if (next == tasks) {
            control.stop();
            return 0;
        }
        return next++;
    });
    flow::limiter_node<Number> limiter(graph, tokens_max);
    flow::function_node<Number, flow::continue_msg, flow::lightweight> sink(
        graph, flow::serial, [&](Number n) noexcept {
            sum += n;
            return flow::continue_msg{};
        });
    flow::make_edge(input, limiter);
    std::vector<std::unique_ptr<Stage>> middle;
    if (parallel) {
        middle.push_back(
            std::make_unique<Stage>(graph, flow::unlimited, [](Number n) noexcept { return n; }));
    }
    for (std::size_t i = 2; i < stages; ++i) {
        middle.push_back(
            std::make_unique<Stage>(graph, flow::serial, [](Number n) noexcept { return n; }));
    }
    flow::sender<Number>* last = &limiter;
    for (auto& stage : middle) {
        flow::make_edge(*last, *stage);
        last = stage.get();
    }
    flow::make_edge(*last, sink);
    flow::make_edge(sink, limiter.decrementer());
    input.activate();
    graph.wait_for_all();
    return sum;
}

}  // namespace strid::bench::peers
