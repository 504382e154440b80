// SPDX-License-Identifier: Apache-2.0
#include "merged_tables.hpp"
#include "table_aggregate.hpp"
#include "table_writers.hpp"
#include "window_graph.hpp"

namespace strid::tool {

// They take rows as they come, so that none is late.
void build_windows(Graph& graph, const WindowJob& job, const window::CountWindows& windows) {
    auto results = graph.source(MergedTables(job), {.name = "read"})
                       .key_by<&TableRow::key>()
                       .window(windows, TableAggregate(job.plan), job.window);
    using Result = decltype(results)::record_type;
    std::move(results).sink(ResultWriter<Result>(job), {.name = "write"});
}

}  // namespace strid::tool
