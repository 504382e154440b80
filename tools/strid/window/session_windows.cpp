// SPDX-License-Identifier: Apache-2.0
#include "live_windows.hpp"

namespace strid::tool {

// A live graph has other late rows: no two sessions that were written may overlap.
void build_windows(Graph& graph, const WindowJob& job, const window::SessionWindows& windows) {
    if (job.is_live()) return build_live_windows(graph, job, windows);
    constexpr auto time_of = [](const TableRow& row) { return row.time; };
    auto [results, late] =
        graph.source(MergedTables(job), {.name = "read"})
            .event_time(time_of, TableTime{job.progress}, {.name = "time"})
            .key_by<&TableRow::key>()
            .window(windows, TableAggregate(job.plan, job.late), late_apart, job.window);
    using Result = decltype(results)::record_type;
    std::move(results).sink(ResultWriter<Result>(job), {.name = "write"});
    std::move(late).sink(LateWriter(job), {.name = "write-late"});
}

}  // namespace strid::tool
