// SPDX-License-Identifier: Apache-2.0
//
// The graph of `strid window` where windows are marked, written early or filled in, or rows from
// the future set aside (live_options.hpp).
#pragma once

#include <cstdint>
#include <utility>

#include "merged_tables.hpp"
#include "table_aggregate.hpp"
#include "table_writers.hpp"
#include "window_graph.hpp"

namespace strid::tool {

template <class Windows>
void build_live_windows(Graph& graph, const WindowJob& job, const Windows& windows) {
    constexpr auto time_of = [](const TableRow& row) { return row.time; };
    constexpr std::uint64_t fill_max = 1'000'000;
    const UpdateOptions options{.window = job.window,
                                .early_every = job.rows.every,
                                .fill_max = job.rows.fills ? fill_max : 0};
    const LateWriter late_writer(job);  // both copies write to one file
    auto [updates, late] =
        graph.source(MergedTables(job), {.name = "read"})
            .filter(SetAside(job, late_writer), {.name = "future"})
            .event_time(time_of, TableTime{job.progress}, {.name = "time"})
            .template key_by<&TableRow::key>()
            .window(windows, TableAggregate(job.plan, job.late), late_apart, options);
    using Update = typename decltype(updates)::record_type;
    std::move(updates).sink(ResultWriter<Update>(job), {.name = "write"});
    std::move(late).sink(late_writer, {.name = "write-late"});
}

}  // namespace strid::tool
