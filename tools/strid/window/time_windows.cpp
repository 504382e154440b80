// SPDX-License-Identifier: Apache-2.0
#include "live_windows.hpp"

namespace strid::tool {

// A live graph gives the same rows. It also has the late ones, which would make the results of the
// plain graph dearer where nothing is done with them.
void build_windows(Graph& graph, const WindowJob& job, const window::TimeWindows& windows) {
    if (job.late || job.is_live()) return build_live_windows(graph, job, windows);
    constexpr auto time_of = [](const TableRow& row) { return row.time; };
    auto results = graph.source(MergedTables(job), {.name = "read"})
                       .event_time(time_of, TableTime{job.progress}, {.name = "time"})
                       .key_by<&TableRow::key>()
                       .window(windows, TableAggregate(job.plan, job.late), job.window);
    using Result = decltype(results)::record_type;
    std::move(results).sink(ResultWriter<Result>(job), {.name = "write"});
}

}  // namespace strid::tool
