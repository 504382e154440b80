// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/histogram.hpp>
#include <strid/engine/base/json_text.hpp>

#include "running.hpp"

namespace strid {

namespace {

LatencyReport summarise(const Histogram& histogram) {
    std::vector<LatencyBucket> buckets;
    histogram.for_each_bucket([&buckets](std::int64_t at_most_ns, std::uint64_t count) {
        buckets.push_back({at_most_ns, count});
    });
    return {.count = histogram.count(),
            .p50_ns = histogram.percentile(50),
            .p95_ns = histogram.percentile(95),
            .p99_ns = histogram.percentile(99),
            .max_ns = histogram.max(),
            .mean_ns = histogram.mean(),
            .histogram = std::move(buckets)};
}

/// The buckets as pairs: at most so many nanoseconds, so many records.
std::string to_json(const std::vector<LatencyBucket>& histogram) {
    std::string pairs;
    for (const auto& [at_most_ns, count] : histogram) {
        if (!pairs.empty()) pairs += ',';
        pairs += fmt::format("[{},{}]", at_most_ns, count);
    }
    return '[' + pairs + ']';
}

std::string to_json(const LatencyReport& latency) {
    return fmt::format(R"({{"count":{},"mean_ns":{:.1f},"p50_ns":{},"p95_ns":{},"p99_ns":{},)"
                       R"("max_ns":{},"histogram_ns":{}}})",
                       latency.count, latency.mean_ns, latency.p50_ns, latency.p95_ns,
                       latency.p99_ns, latency.max_ns, to_json(latency.histogram));
}

std::string to_json(const LatencySplit& split) {
    return fmt::format(
        R"({{"batches":{},"records":{},"user_ns":{},"engine_ns":{},"waiting_ns":{},)"
        R"("user_mean_ns":{:.1f},"engine_mean_ns":{:.1f},"waiting_mean_ns":{:.1f}}})",
        split.batches, split.records, split.user_ns, split.engine_ns, split.waiting_ns,
        split.user_mean_ns, split.engine_mean_ns, split.waiting_mean_ns);
}

LatencySplit split_of(const operators::SplitClock::Totals& totals) {
    const std::uint64_t records = totals.records.get();
    const auto mean = [records](const operators::SharedSum& sum) {
        return records == 0 ? 0 : sum.get() / static_cast<double>(records);
    };
    return {.batches = totals.batches.get(),
            .records = records,
            .user_ns = totals.user_ns.get(),
            .engine_ns = totals.engine_ns.get(),
            .waiting_ns = totals.waiting_ns.get(),
            .user_mean_ns = mean(totals.user_of_records_ns),
            .engine_mean_ns = mean(totals.engine_of_records_ns),
            .waiting_mean_ns = mean(totals.waiting_of_records_ns)};
}

std::string to_json(const std::map<std::string, std::uint64_t>& counters) {
    std::string members;
    for (const auto& [name, value] : counters) {
        if (!members.empty()) members += ',';
        members += fmt::format("{}:{}", json_text(name), value);
    }
    return '{' + members + '}';
}

std::string to_json(const OperatorReport& op) {
    return fmt::format(R"({{"name":{},"kind":{},"parallelism":{},"records_in":{},"records_out":{},)"
                       R"("records_malformed":{},"records_late":{},"records_skipped":{},)"
                       R"("state_keys":{},"state_bytes":{},"counters":{}}})",
                       json_text(op.name), json_text(op.kind), op.parallelism, op.records_in,
                       op.records_out, op.records_malformed, op.records_late, op.records_skipped,
                       op.state_keys, op.state_bytes, to_json(op.counters));
}

std::string to_json(const ConnectionReport& connection);
std::string to_json(const SegmentReport& segment);

template <class Part>
std::string json_list(const std::vector<Part>& parts) {
    std::string list;
    for (const Part& part : parts) list += (list.empty() ? "" : ",") + to_json(part);
    return '[' + list + ']';
}

std::string to_json(const ConnectionReport& connection) {
    return fmt::format(
        R"({{"address":{},"is_up":{},"seconds":{:.3f},"times_lost":{},"bytes_held":{},)"
        R"("reason":{}}})",
        json_text(connection.address), connection.is_up, connection.seconds, connection.times_lost,
        connection.bytes_held, json_text(connection.reason));
}

std::string to_json(const SegmentReport& segment) {
    return fmt::format(
        R"({{"operators":{},"parallelism":{},"batches":{},"refusals":{},"busy_ns":{},)"
        R"("idle_ns":{},"refused_ns":{},"queue_fill":{:.3f},"queued_batches":{},)"
        R"("queued_batches_max":{},"pool_high_water_blocks":{},)"
        R"("pool_refused_leases":{},"watermark_ns":{},)"
        R"("latency":{},"split":{},"path":{}}})",
        json_list(segment.operators), segment.parallelism, segment.batches, segment.refusals,
        segment.busy_ns, segment.idle_ns, segment.refused_ns, segment.queue_fill,
        segment.queued_batches, segment.queued_batches_max, segment.pool_high_water_blocks,
        segment.pool_refused_leases,
        segment.watermark_ns ? std::to_string(*segment.watermark_ns) : "null",
        to_json(segment.latency), to_json(segment.split), to_json(segment.path));
}

/// As WatermarkMerge has it: idle replicas and those that have ended are left out, and the greatest
/// counts where none is left.
class SentWatermarks {
  public:
    void add(const Progress& sent) noexcept {
        greatest_ = std::max(greatest_, sent.watermark);
        if (sent.idle) return;
        least_ = std::min(least_, sent.watermark);
        is_awaited_ = true;
    }
    [[nodiscard]] std::optional<std::int64_t> ns() const noexcept {
        const EventTime watermark = is_awaited_ ? least_ : greatest_;
        if (watermark == EventTime::earliest()) return std::nullopt;
        return watermark.ns();
    }

  private:
    EventTime least_ = EventTime::latest();
    EventTime greatest_ = EventTime::earliest();
    bool is_awaited_ = false;
};

}  // namespace

RunReport Running::State::report() const {
    RunReport report;
    report.graph = name_;
    const std::int64_t end = end_ns_.load(std::memory_order_relaxed);
    report.seconds = static_cast<double>((end != 0 ? end : now_ns()) - start_ns_) * 1e-9;
    report.workers = plan_.workers;
    report.tasks = tasks_.size() + tasks_brought_;
    report.fraction_done = 1;
    report.connections = scope_.connections();
    Histogram at_sinks;
    for (std::size_t f = 0; f < plan_.fragments.size(); ++f) {
        SegmentReport segment;
        segment.parallelism = replicas_[f].size();
        for (const auto& info : operators_[f]) {
            segment.operators.push_back(
                {.name = info.name, .kind = info.kind, .parallelism = replicas_[f].size()});
        }
        Histogram latency;
        SentWatermarks watermarks;
        for (operators::Node* node : replicas_[f]) {
            for (std::size_t i = 0; i < segment.operators.size(); ++i) {
                segment.operators[i].records_in += node->counts()[i].in.get();
                segment.operators[i].records_out += node->counts()[i].out.get();
                segment.operators[i].records_malformed += node->counts()[i].malformed.get();
                segment.operators[i].records_late += node->counts()[i].late.get();
                segment.operators[i].records_skipped += node->counts()[i].skipped.get();
                segment.operators[i].state_keys += node->counts()[i].keys.get();
                segment.operators[i].state_bytes += node->counts()[i].state_bytes.get();
                auto& counters = segment.operators[i].counters;
                node->counters()[i].for_each(
                    [&counters](const std::string& name, std::uint64_t n) { counters[name] += n; });
            }
            segment.batches += node->batches();
            segment.refusals += node->refusals();
            segment.busy_ns += node->busy_ns();
            segment.idle_ns += node->waits().idle_ns();
            segment.refused_ns += node->waits().refused_ns();
            segment.queued_batches += node->queued();
            segment.queued_batches_max += node->queued_max();
            latency.merge(node->latency());
            segment.split += split_of(node->split().totals());
            segment.path += split_of(node->split().path());
            report.fraction_done = std::min(report.fraction_done, node->fraction_done());
            report.bytes_read += node->bytes_read();
            if (node->output() != nullptr) {
                const auto pool = node->output()->pool_counters();
                segment.pool_high_water_blocks += pool.high_water;
                segment.pool_refused_leases += pool.misses;
                watermarks.add(node->output()->last_sent());
            }
        }
        segment.watermark_ns = watermarks.ns();
        if (segment.queued_batches_max != 0) {
            segment.queue_fill = static_cast<double>(segment.queued_batches) /
                                 static_cast<double>(segment.queued_batches_max);
        }
        segment.latency = summarise(latency);
        if (plan_.fragments[f].edges.empty()) at_sinks.merge(latency);
        report.path += segment.path;
        report.segments.push_back(std::move(segment));
    }
    report.latency = summarise(at_sinks);
    return report;
}

LatencySplit& LatencySplit::operator+=(const LatencySplit& other) noexcept {
    const std::uint64_t both = records + other.records;
    const double share =
        both == 0 ? 0 : static_cast<double>(other.records) / static_cast<double>(both);
    const auto mean = [share](double& of, double others) { of += share * (others - of); };
    mean(user_mean_ns, other.user_mean_ns);
    mean(engine_mean_ns, other.engine_mean_ns);
    mean(waiting_mean_ns, other.waiting_mean_ns);
    batches += other.batches;
    records = both;
    user_ns += other.user_ns;
    engine_ns += other.engine_ns;
    waiting_ns += other.waiting_ns;
    return *this;
}

std::uint64_t RunReport::records_in() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& segment : segments) {
        if (segment.operators.front().kind == "source")
            sum += segment.operators.front().records_out;
    }
    return sum;
}

std::uint64_t RunReport::records_out() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& segment : segments) {
        if (segment.operators.back().kind == "sink") sum += segment.operators.back().records_in;
    }
    return sum;
}

std::map<std::string, double> RunReport::loads() const {
    std::map<std::string, double> loads;
    const auto emitted = static_cast<double>(records_in());
    if (emitted == 0) return loads;
    for (const auto& segment : segments) {
        const double share = static_cast<double>(segment.busy_ns) / emitted /
                             static_cast<double>(segment.operators.size());
        for (const auto& op : segment.operators) loads.emplace(op.name, share);
    }
    return loads;
}

const OperatorReport* RunReport::find(const std::string& name) const noexcept {
    for (const auto& segment : segments) {
        for (const auto& op : segment.operators) {
            if (op.name == name) return &op;
        }
    }
    return nullptr;
}

std::string RunReport::to_json() const {
    return fmt::format(
        R"({{"graph":{},"seconds":{:.6f},"workers":{},"tasks":{},"records_in":{},"records_out":{},)"
        R"("bytes_read":{},"latency":{},"path":{},"connections":{},"segments":{}}})",
        json_text(graph), seconds, workers, tasks, records_in(), records_out(), bytes_read,
        strid::to_json(latency), strid::to_json(path), json_list(connections), json_list(segments));
}

}  // namespace strid
