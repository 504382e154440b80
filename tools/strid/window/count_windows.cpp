// SPDX-License-Identifier: Apache-2.0
#include "window_stages.hpp"

namespace strid::tool {

void build_count_windows(Graph& graph, const WindowJob& job, window::CountWindows windows) {
    auto results = graph.source(table_source(job), {.name = "read"})
                       .key_by<&TableRow::key>()
                       .window(windows, TableAggregate(job.plan), job.window);
    using Result = decltype(results)::record_type;
    std::move(results).sink(TableWriter<Result>(job.output, job.plan), {.name = "write"});
}

}  // namespace strid::tool
