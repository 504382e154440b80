// SPDX-License-Identifier: Apache-2.0
//
// Runs in which allocations are counted, compiled once for all tests of them.
#include "allocations.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace strid::test {

bool is_through(const GraphDescription& graph, const RunReport& report) {
    const auto edges = [&graph](std::size_t GraphDescription::Edge::*end, std::size_t segment) {
        return std::count_if(graph.edges.begin(), graph.edges.end(),
                             [&](const auto& edge) { return edge.*end == segment; });
    };
    const std::size_t segments = report.segments.size();
    std::vector<std::uint64_t> sent(segments);  // to each, by those that send nowhere else
    std::vector<std::uint64_t> came(segments);  // from each that splits
    for (const auto& edge : graph.edges) {
        const std::uint64_t copies =
            edge.routing == "broadcast" ? graph.segments[edge.to_segment].parallelism : 1;
        if (edges(&GraphDescription::Edge::from_segment, edge.from_segment) == 1) {
            sent[edge.to_segment] +=
                copies * report.segments[edge.from_segment].operators.back().records_out;
        } else {
            came[edge.from_segment] +=
                report.segments[edge.to_segment].operators.front().records_in;
        }
    }
    for (std::size_t s = 0; s < segments; ++s) {
        const auto& operators = report.segments[s].operators;
        if (sent[s] != 0 && sent[s] != operators.front().records_in) return false;
        if (came[s] != 0 && came[s] != operators.back().records_out) return false;
    }
    return true;
}

void wait_at_half(const Running& running, const GraphDescription& graph) {
    using namespace std::chrono_literals;
    const auto begin = std::chrono::steady_clock::now();
    for (int looks = 0; looks != 3;) {
        std::this_thread::sleep_for(1ms);
        const bool is_at_half = halfway.is_reached.load();
        looks = is_at_half && is_through(graph, running.report()) ? looks + 1 : 0;
        if (std::chrono::steady_clock::now() - begin > 60s) {
            ADD_FAILURE() << "what the first half sent has not come in a minute";
            break;
        }
    }
    halfway.allocated = allocations.load();
    halfway.may_go_on.store(true);
}

void expect_none_per_record_in(const Graph& graph, const std::string& name, const std::string& way,
                               const RunOptions& options, const std::uint64_t& steady) {
    SCOPED_TRACE(name + ", " + way);
    halfway.is_reached.store(false);
    halfway.may_go_on.store(false);
    auto running = start(graph, options);
    wait_at_half(running, graph.description(options));
    const auto report = running.wait();
    EXPECT_EQ(report.records_in(), records);
    const double per_record = static_cast<double>(steady) / (records / 2.0);
    EXPECT_LE(per_record, allocations_per_record_max);
    print_allocations(name, way, per_record);
}

}  // namespace strid::test
