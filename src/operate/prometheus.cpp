// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <utility>

#include <strid/operate/prometheus.hpp>

#include "exposition.hpp"

namespace strid::operate {

namespace {

constexpr double seconds_of_ns = 1e-9;

/// A figure of each operator.
struct OperatorFigure {
    std::string_view name;
    std::string_view type;
    std::string_view help;
    std::uint64_t (*value)(const OperatorReport&);
};

constexpr std::array operator_figures{
    OperatorFigure{"strid_operator_records_in_total", "counter",
                   "Records that arrived at the operator; 0 of a source.",
                   [](const OperatorReport& op) { return op.records_in; }},
    OperatorFigure{"strid_operator_records_out_total", "counter",
                   "Records that the operator emitted; 0 of a sink.",
                   [](const OperatorReport& op) { return op.records_out; }},
    OperatorFigure{"strid_operator_records_malformed_total", "counter",
                   "Records that a source refused.",
                   [](const OperatorReport& op) { return op.records_malformed; }},
    OperatorFigure{"strid_operator_records_late_total", "counter",
                   "Records that came too late for the operator.",
                   [](const OperatorReport& op) { return op.records_late; }},
    OperatorFigure{"strid_operator_records_skipped_total", "counter",
                   "Records for which the function of the operator threw.",
                   [](const OperatorReport& op) { return op.records_skipped; }},
    OperatorFigure{"strid_operator_state_keys", "gauge", "Keys in the state of the operator.",
                   [](const OperatorReport& op) { return op.state_keys; }},
    OperatorFigure{"strid_operator_state_bytes", "gauge", "Bytes of the state of the operator.",
                   [](const OperatorReport& op) { return op.state_bytes; }},
    OperatorFigure{
        "strid_operator_replicas", "gauge", "Replicas of the operator.",
        [](const OperatorReport& op) { return static_cast<std::uint64_t>(op.parallelism); }},
};

/// A figure of each segment.
struct SegmentFigure {
    std::string_view name;
    std::string_view type;
    std::string_view help;
    double (*value)(const SegmentReport&);
};

constexpr double seconds(std::uint64_t ns) {
    return static_cast<double>(ns) * seconds_of_ns;
}

constexpr std::array segment_figures{
    SegmentFigure{"strid_segment_busy_seconds_total", "counter",
                  "Time of all replicas of the segment in its loop.",
                  [](const SegmentReport& segment) { return seconds(segment.busy_ns); }},
    SegmentFigure{"strid_segment_idle_seconds_total", "counter",
                  "Time of all replicas of the segment waiting for input.",
                  [](const SegmentReport& segment) { return seconds(segment.idle_ns); }},
    SegmentFigure{"strid_segment_refused_seconds_total", "counter",
                  "Time of all replicas of the segment waiting for room at the output.",
                  [](const SegmentReport& segment) { return seconds(segment.refused_ns); }},
    SegmentFigure{
        "strid_segment_batches_total", "counter", "Batches that the segment handled.",
        [](const SegmentReport& segment) { return static_cast<double>(segment.batches); }},
    SegmentFigure{
        "strid_segment_refusals_total", "counter", "Runs of the loop that found no spare block.",
        [](const SegmentReport& segment) { return static_cast<double>(segment.refusals); }},
    SegmentFigure{"strid_segment_queue_fill_ratio", "gauge",
                  "Fill of the input queues of the segment, 0 to 1, a mean of the run.",
                  [](const SegmentReport& segment) { return segment.queue_fill; }},
};

void add_run(Exposition& out, const RunReport& report, bool is_running, const Labels& labels) {
    out.single("strid_running", "gauge", "1 while the run goes on, 0 when it is over.", labels,
               is_running ? 1 : 0);
    out.single("strid_run_seconds", "gauge", "Time since the start of the run.", labels,
               report.seconds);
    out.single("strid_workers", "gauge", "Workers that the graph was planned for.", labels,
               report.workers);
    out.single("strid_tasks", "gauge", "Tasks of the run.", labels, report.tasks);
    out.single("strid_records_in_total", "counter", "Records that the sources emitted.", labels,
               report.records_in());
    out.single("strid_records_out_total", "counter", "Records that the sinks took.", labels,
               report.records_out());
    out.single("strid_read_bytes_total", "counter", "Bytes of input, as stored.", labels,
               report.bytes_read);
    if (report.fraction_done < 0) return;
    out.single("strid_done_ratio", "gauge", "Part of the input that is read, 0 to 1.", labels,
               report.fraction_done);
}

void add_operators(Exposition& out, const RunReport& report) {
    const auto for_each = [&report](auto&& visit) {
        for (const SegmentReport& segment : report.segments) {
            for (const OperatorReport& op : segment.operators) visit(op);
        }
    };
    for (const OperatorFigure& figure : operator_figures) {
        out.family(figure.name, figure.type, figure.help);
        for_each([&](const OperatorReport& op) {
            out.sample(
                labels_of({{"graph", report.graph}, {"operator", op.name}, {"kind", op.kind}}),
                figure.value(op));
        });
    }
    bool has_head = false;
    for_each([&](const OperatorReport& op) {
        for (const auto& [name, value] : op.counters) {
            if (!std::exchange(has_head, true)) {
                out.family("strid_operator_counted_total", "counter",
                           "The counters of the application, by name.");
            }
            out.sample(
                labels_of({{"graph", report.graph}, {"operator", op.name}, {"counter", name}}),
                value);
        }
    });
}

void add_segments(Exposition& out, const RunReport& report) {
    for (const SegmentFigure& figure : segment_figures) {
        out.family(figure.name, figure.type, figure.help);
        for (const SegmentReport& segment : report.segments) {
            const std::string& name = segment.operators.front().name;
            out.sample(labels_of({{"graph", report.graph}, {"segment", name}}),
                       figure.value(segment));
        }
    }
    bool has_head = false;
    for (const SegmentReport& segment : report.segments) {
        if (!segment.watermark_ns) continue;
        if (!std::exchange(has_head, true)) {
            out.family("strid_segment_watermark_seconds", "gauge",
                       "The watermark that the segment has sent, seconds of event time.");
        }
        const std::string& name = segment.operators.front().name;
        out.sample(labels_of({{"graph", report.graph}, {"segment", name}}),
                   static_cast<double>(*segment.watermark_ns) * seconds_of_ns);
    }
}

void add_connections(Exposition& out, const RunReport& report) {
    const auto add = [&](std::string_view name, std::string_view type, std::string_view help,
                         auto value) {
        if (report.connections.empty()) return;
        out.family(name, type, help);
        for (const ConnectionReport& one : report.connections) {
            out.sample(labels_of({{"graph", report.graph}, {"connection", one.address}}),
                       value(one));
        }
    };
    add("strid_connection_up", "gauge", "1 where the place can be reached, 0 where it cannot.",
        [](const ConnectionReport& one) { return one.is_up ? 1 : 0; });
    add("strid_connection_losses_total", "counter", "How often the place could not be reached.",
        [](const ConnectionReport& one) { return one.times_lost; });
    add("strid_connection_held_bytes", "gauge", "Bytes of rows in memory that wait for the place.",
        [](const ConnectionReport& one) { return one.bytes_held; });
}

/// The buckets of a report end at the powers of two, less one nanosecond.
void add_latency(Exposition& out, const LatencyReport& latency, const std::string& graph) {
    constexpr int least_bits = 10;
    constexpr int most_bits = 36;
    const Labels labels = labels_of({{"graph", graph}});
    out.family("strid_latency_seconds", "histogram",
               "Time from the entry of a record to the end of its batch in a sink.");
    std::uint64_t below = 0;
    std::size_t next = 0;
    for (int bits = least_bits; bits <= most_bits; ++bits) {
        const std::int64_t bound_ns = (std::int64_t{1} << bits) - 1;
        for (; next < latency.histogram.size(); ++next) {
            if (latency.histogram[next].at_most_ns > bound_ns) break;
            below += latency.histogram[next].count;
        }
        const std::string bound = fmt::format("{}", static_cast<double>(bound_ns) * seconds_of_ns);
        out.sample(labels_of({{"graph", graph}, {"le", bound}}), below, "_bucket");
    }
    // The count may be of a later moment than the buckets.
    for (; next < latency.histogram.size(); ++next) below += latency.histogram[next].count;
    out.sample(labels_of({{"graph", graph}, {"le", "+Inf"}}), below, "_bucket");
    out.sample(labels, latency.mean_ns * static_cast<double>(below) * seconds_of_ns, "_sum");
    out.sample(labels, below, "_count");
}

}  // namespace

std::string prometheus_text(const RunReport& report, bool is_running) {
    Exposition out;
    add_run(out, report, is_running, labels_of({{"graph", report.graph}}));
    add_operators(out, report);
    add_segments(out, report);
    add_connections(out, report);
    add_latency(out, report.latency, report.graph);
    return out.take();
}

}  // namespace strid::operate
