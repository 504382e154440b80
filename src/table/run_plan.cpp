// SPDX-License-Identifier: Apache-2.0
//
// The one place where the engine's templates meet tables that are known at run time.
#include <functional>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/stream/graph.hpp>
#include <strid/table/csv_chunks.hpp>
#include <strid/table/plan.hpp>
#include <strid/table/step.hpp>

#include "improved_plan.hpp"

namespace strid::table {

namespace {

template <class Sink>
RunReport run_into(ImprovedPlan plan, Sink sink, const RunOptions& options) {
    Graph graph{"table"};
    auto rows = graph.source(
        CsvChunks({std::move(plan.path)}, plan.parsed, std::move(plan.options)), {.name = "read"});
    // It draws watermarks, if some step does.
    TableStep<true> compute(pipeline(std::move(plan.operators), plan.parsed));
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
