// SPDX-License-Identifier: Apache-2.0
//
// The one place where the engine's templates meet tables that are known at run time.
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/stream/graph.hpp>
#include <strid/table/csv_chunks.hpp>
#include <strid/table/plan.hpp>
#include <strid/table/step.hpp>

#include "improved_plan.hpp"

namespace strid::table {

namespace {

auto read(Graph& graph, ImprovedPlan& plan, std::string name) {
    return graph.source(CsvChunks({std::move(plan.path)}, plan.parsed, std::move(plan.options)),
                        {.name = std::move(name)});
}

/// A step of the pipeline of a plan, for rows of a file or of a union.
template <bool draws>
TableStep<draws> computing(ImprovedPlan& plan) {
    return TableStep<draws>(pipeline(std::move(plan.operators), plan.parsed));
}

/// The rows of the parts of a union, which is not computed yet.
Stream<Chunk> united(Graph& graph, ImprovedPlan& plan, const std::string& number) {
    std::optional<Stream<Chunk>> all;
    for (std::size_t i = 0; i != plan.parts.size(); ++i) {
        ImprovedPlan& part = plan.parts[i];
        const std::string own = fmt::format("{}-{}", number, i + 1);
        const OperatorOptions options{.name = "compute" + own, .parallelism = 1};
        Stream<Chunk> rows = [&]() -> Stream<Chunk> {
            if (part.parts.empty()) {
                return read(graph, part, "read" + own)
                    .apply(computing<true>(part), options)
                    .separate();
            }
            const bool draws = part.draws_time();
            Stream<Chunk> parts = united(graph, part, own);
            if (draws) return std::move(parts).apply(computing<true>(part), options).separate();
            return std::move(parts).apply(computing<false>(part), options).separate();
        }();
        if (all) {
            all.emplace(std::move(*all).merge(std::move(rows)));
        } else {
            all.emplace(std::move(rows));
        }
    }
    return std::move(*all);
}

/// From the rows of a source on.
template <class Rows, class Step, class Sink>
void compute_into(Rows rows, Step compute, const ImprovedPlan& plan, Sink sink) {
    const OperatorOptions computing{.name = "compute", .parallelism = 1};
    const OperatorOptions writing{.name = "write", .parallelism = 1};
    if (plan.late.empty()) {
        std::move(rows).apply(std::move(compute), computing).sink(std::move(sink), writing);
    } else {
        auto [results, late] = std::move(rows).apply(std::move(compute), late_apart, computing);
        std::move(results).sink(std::move(sink), writing);
        std::move(late).sink(csv_from_chunks(plan.late, plan.late_schema),
                             {.name = "write late rows", .parallelism = 1});
    }
}

template <class Sink>
RunReport run_into(ImprovedPlan plan, Sink sink, const RunOptions& options) {
    Graph graph{"table"};
    if (plan.parts.empty()) {
        auto rows = read(graph, plan, "read");
        compute_into(std::move(rows), computing<true>(plan), plan, std::move(sink));
    } else if (Stream<Chunk> rows = united(graph, plan, ""); plan.draws_time()) {
        compute_into(std::move(rows), computing<true>(plan), plan, std::move(sink));
    } else {
        compute_into(std::move(rows), computing<false>(plan), plan, std::move(sink));
    }
    return strid::run(graph, options);
}

}  // namespace

RunReport run(const Plan& plan, const RunOptions& options) {
    ImprovedPlan improved(plan);
    if (improved.output.empty()) throw GraphError("the plan writes nowhere");
    ChunkWriter writer = csv_from_chunks(improved.output, plan.schema());
    return run_into(std::move(improved), std::move(writer), options);
}

RunReport run(const Plan& plan, std::function<void(const Chunk&)> take, const RunOptions& options) {
    ImprovedPlan improved(plan);
    if (!improved.output.empty()) throw GraphError("the plan writes to " + improved.output);
    const auto sink = [take = std::move(take)](const Chunk& chunk) { take(chunk); };
    return run_into(std::move(improved), sink, options);
}

}  // namespace strid::table
