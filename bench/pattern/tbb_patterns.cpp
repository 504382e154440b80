// SPDX-License-Identifier: Apache-2.0
#include "tbb_patterns.hpp"

#include <memory>
#include <tuple>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

namespace strid::bench::peers {

namespace {

namespace flow = tbb::flow;
using Number = std::uint64_t;

constexpr std::size_t tokens_max = 512;

/// On so many threads, the calling one among them.
template <class Action>
void on_threads(std::size_t threads, Action action) {
    tbb::task_arena arena(threads == 0 ? tbb::task_arena::automatic : static_cast<int>(threads));
    arena.execute(action);
}

void pipeline_of(const TbbChain& chain, Number& sum) {
    Number next = 0;
    auto filters = tbb::make_filter<void, Number>(tbb::filter_mode::serial_in_order,
                                                  [&](tbb::flow_control& control) -> Number {
                                                      if (next == chain.tasks) {
                                                          control.stop();
                                                          return 0;
                                                      }
                                                      return next++;
                                                  });
    if (chain.farmed) {
        filters &= tbb::make_filter<Number, Number>(
            tbb::filter_mode::parallel,
            [steps = chain.steps](Number n) { return churn(n, steps); });
    }
    for (std::size_t i = 2; i < chain.stages; ++i) {
        filters &= tbb::make_filter<Number, Number>(tbb::filter_mode::serial_in_order,
                                                    [](Number n) { return n; });
    }
    tbb::parallel_pipeline(
        tokens_max, filters & tbb::make_filter<Number, void>(tbb::filter_mode::serial_in_order,
                                                             [&](Number n) { sum += n; }));
}

/// `Middle`: a lightweight stage is run by the thread that hands it the number, which costs least
/// where there is nothing to do, and is no farm where there is.
template <class Middle>
void graph_of(const TbbChain& chain, Number& sum) {
    using Stage = flow::function_node<Number, Number, flow::lightweight>;
    using Farmed = flow::function_node<Number, Number, Middle>;
    Number next = 0;
    flow::graph graph;
    flow::input_node<Number> input(graph, [&](tbb::flow_control& control) -> Number {
        if (next == chain.tasks) {
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
    Farmed farmed(graph, flow::unlimited,
                  [steps = chain.steps](Number n) noexcept { return churn(n, steps); });
    std::vector<std::unique_ptr<Stage>> middle;
    for (std::size_t i = 2; i < chain.stages; ++i) {
        middle.push_back(
            std::make_unique<Stage>(graph, flow::serial, [](Number n) noexcept { return n; }));
    }
    flow::sender<Number>* last = &limiter;
    if (chain.farmed) {
        flow::make_edge(*last, farmed);
        last = &farmed;
    }
    for (auto& stage : middle) {
        flow::make_edge(*last, *stage);
        last = stage.get();
    }
    flow::make_edge(*last, sink);
    flow::make_edge(sink, limiter.decrementer());
    input.activate();
    graph.wait_for_all();
}

template <class Policy>
void ring_of(const RingLoad& load, Number& sum) {
    using Head = flow::multifunction_node<Number, std::tuple<Number>, Policy>;
    using Stage = flow::function_node<Number, Number, Policy>;
    flow::graph graph;
    Head first(
        graph, flow::serial,
        [head = RingHead(load)](Number, typename Head::output_ports_type& ports) mutable noexcept {
            head([&](Number n) { (void)std::get<0>(ports).try_put(n); });
        });
    std::vector<std::unique_ptr<Stage>> stages;
    flow::sender<Number>* before = &flow::output_port<0>(first);
    const auto add = [&](auto function) {
        stages.push_back(std::make_unique<Stage>(graph, flow::serial, function));
        flow::make_edge(*before, *stages.back());
        before = stages.back().get();
    };
    for (std::size_t i = 2; i < load.stages; ++i) {
        add([steps = load.steps](Number n) noexcept { return churn(n, steps); });
    }
    add([&sum, steps = load.steps](Number n) noexcept {
        sum += churn(n, steps);
        return n;
    });
    flow::make_edge(*before, first);
    (void)first.try_put(0);
    graph.wait_for_all();
}

}  // namespace

std::uint64_t tbb_parallel_pipeline(const TbbChain& chain) {
    Number sum = 0;
    on_threads(chain.threads, [&] { pipeline_of(chain, sum); });
    return sum;
}

std::uint64_t tbb_flow_graph(const TbbChain& chain) {
    Number sum = 0;
    on_threads(chain.threads, [&] {
        if (chain.steps == 0) graph_of<flow::lightweight>(chain, sum);
        if (chain.steps != 0) graph_of<flow::queueing>(chain, sum);
    });
    return sum;
}

std::uint64_t tbb_ring(const RingLoad& load) {
    Number sum = 0;
    on_threads(load.threads, [&] {
        if (load.steps == 0) ring_of<flow::lightweight>(load, sum);
        if (load.steps != 0) ring_of<flow::queueing>(load, sum);
    });
    return sum;
}

}  // namespace strid::bench::peers
