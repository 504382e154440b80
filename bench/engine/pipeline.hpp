// SPDX-License-Identifier: Apache-2.0
//
// The synthetic pipeline on the engine: source, map, filter and sink over records of 64 bytes,
// fused into one segment, or with the map on another core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include <strid/stream/graph.hpp>

#include "../pipeline_workload.hpp"

namespace strid::bench {

struct Record64Source {
    using record_type = Record64;
    static constexpr SourceTraits traits{.hears = events<>};
    std::uint64_t records = 0;
    std::uint64_t made = 0;
    PipelineSource source{};

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        // The generator in a local, so that it stays in registers.
        PipelineSource local = source;
        const std::uint64_t left = records - made;
        const std::uint64_t wanted = left < budget ? left : budget;
        std::uint64_t done = 0;
        for (bool go_on = true; go_on && done != wanted; ++done) {
            Record64 record;
            local.fill(record);
            go_on = emit(std::move(record));
        }
        source = local;
        made += done;
        return made == records ? SourceStatus::finished : SourceStatus::more;
    }
    auto state() { return std::tie(source, made); }
};

struct ChecksumSink {
    static constexpr FunctionTraits traits{.hears = events<Closed>};

    PipelineChecksum* result;  // of the caller, which reads it after the run
    PipelineChecksum checksum{};

    void operator()(const Record64& record) noexcept { checksum.add(record); }
    void on(Closed) noexcept { *result = checksum; }
    auto state() { return std::tie(checksum); }
};

enum class Layout { fused, map_elsewhere };

inline Graph make_pipeline(std::uint64_t records, Layout layout, PipelineChecksum& result) {
    Graph graph{"pipeline"};
    Stream<Record64, graph::Chain<operators::SourceHead<Record64Source>>> source =
        graph.source(Record64Source{records});
    const auto rest = [&](auto stream) {
        std::move(stream)
            .map([](Record64& record) { pipeline_map(record); })
            .filter([](const Record64& record) { return pipeline_keep(record); })
            .sink(ChecksumSink{&result});
    };
    if (layout == Layout::fused) {
        rest(std::move(source));
    } else {
        rest(std::move(source).rebalance());
    }
    return graph;
}

inline PipelineResult run_engine_pipeline(std::uint64_t records, Layout layout,
                                          const RunOptions& options) {
    PipelineChecksum checksum;
    const Graph graph = make_pipeline(records, layout, checksum);
    const RunReport report = run(graph, options);
    return {records, report.seconds, checksum, report.latency.p50_ns, report.latency.p99_ns};
}

inline PipelineResult run_engine_pipeline(std::uint64_t records, Layout layout) {
    const std::size_t workers = layout == Layout::fused ? 1 : 2;
    return run_engine_pipeline(records, layout, {.workers = workers, .parallelism = 1});
}

}  // namespace strid::bench
