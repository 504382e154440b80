// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace strid {

namespace {

std::string plural(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

/// The sum of a count over all operators.
std::uint64_t sum_of(const RunReport& report, std::uint64_t OperatorReport::*count) {
    std::uint64_t sum = 0;
    for (const auto& segment : report.segments) {
        for (const auto& op : segment.operators) sum += op.*count;
    }
    return sum;
}

/// The records on which functions of operators threw, and the application's own counters.
std::string own_counts(const RunReport& report) {
    std::string text;
    for (const auto& segment : report.segments) {
        for (const auto& op : segment.operators) {
            if (op.records_skipped > 0) {
                text += fmt::format("  skipped   {} on which {} threw\n",
                                    plural(op.records_skipped, "record"), op.name);
            }
            for (const auto& [name, value] : op.counters) {
                text +=
                    fmt::format("  counted   {} {} in {}\n", format_count(value), name, op.name);
            }
        }
    }
    return text;
}

}  // namespace

std::string progress_line(const RunReport& before, const RunReport& now, double bytes_per_second) {
    const double seconds = std::max(now.seconds - before.seconds, 1e-9);
    const auto records = static_cast<double>(now.records_in() - before.records_in());
    std::string line = fmt::format("{} records/s", format_quantity(records / seconds));
    if (bytes_per_second > 0) line += fmt::format("  {:.0f} MB/s", bytes_per_second / 1e6);
    if (now.latency.count > 0) {
        line += fmt::format("  latency p50 {} p99 {}", format_latency(now.latency.p50_ns),
                            format_latency(now.latency.p99_ns));
    }
    if (now.fraction_done >= 0) {
        line += fmt::format("  {:.0f}%", std::floor(now.fraction_done * 100));
    }
    if (now.fraction_done > 0.005 && now.fraction_done < 1) {
        line += fmt::format(
            "  {} left", format_clock(now.seconds * (1 - now.fraction_done) / now.fraction_done));
    }
    return line;
}

std::string summary(const RunReport& report, std::uint64_t bytes, std::string_view how) {
    const double seconds = std::max(report.seconds, 1e-9);
    const std::uint64_t in = report.records_in();
    const std::uint64_t out = report.records_out();
    std::string text = fmt::format("{}: {} in {:.{}f} s, {} on {}\n", report.graph, how,
                                   report.seconds, report.seconds < 1 ? 3 : 2,
                                   plural(report.tasks, "task"), plural(report.workers, "worker"));
    text += fmt::format("  in        {}, {}/s", plural(in, "record"),
                        format_quantity(static_cast<double>(in) / seconds));
    if (bytes > 0) {
        text += fmt::format(", {:.1f} MB, {:.1f} MB/s", static_cast<double>(bytes) / 1e6,
                            static_cast<double>(bytes) / seconds / 1e6);
    }
    text += fmt::format("\n  out       {}, {}/s\n", plural(out, "record"),
                        format_quantity(static_cast<double>(out) / seconds));
    const LatencyReport& latency = report.latency;
    if (latency.count > 0) {
        text += fmt::format("  latency   p50 {}, p95 {}, p99 {}, max {}\n",
                            format_latency(latency.p50_ns), format_latency(latency.p95_ns),
                            format_latency(latency.p99_ns), format_latency(latency.max_ns));
    }
    if (const auto malformed = sum_of(report, &OperatorReport::records_malformed); malformed > 0) {
        text += fmt::format("  skipped   {}\n", plural(malformed, "malformed record"));
    }
    // One record may be late at several operators, so these are not added up.
    for (const SegmentReport& segment : report.segments) {
        for (const OperatorReport& op : segment.operators) {
            if (op.records_late == 0) continue;
            text +=
                fmt::format("  late      {} at '{}'\n", plural(op.records_late, "record"), op.name);
        }
    }
    text += own_counts(report);
    return text;
}

}  // namespace strid
