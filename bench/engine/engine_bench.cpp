// SPDX-License-Identifier: Apache-2.0
//
// The engine's bars on the synthetic pipeline of 64-byte records, each beside what it is measured
// against, in one run: rounds alternate between the two, the table gives medians and the median of
// the round-by-round ratios. Every answer is compared with the hand-written loop's.
//
//   engine_bench [RECORDS [ROUNDS]]     default 50,000,000 records, 7 rounds
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include <strid/connector/connector.hpp>

#include "../bar.hpp"
#include "../hand/latency.hpp"
#include "../hand/pipeline.hpp"
#include "../statistics.hpp"
#include "pipeline.hpp"

#ifdef STRID_BENCH_TBB
#include "../peers/tbb_pipeline.hpp"
#endif

namespace {

using namespace strid::bench;
using Measure = std::function<PipelineResult(std::uint64_t)>;

bool all_right = true;
std::vector<std::string> bars;  // printed below the table

/// Against the hand-written loop over as many records.
void check(const char* what, const PipelineResult& result) {
    static std::map<std::uint64_t, PipelineChecksum> expected;
    const auto [at, is_new] = expected.try_emplace(result.records);
    if (is_new) at->second = hand::run_pipeline_fused(result.records).checksum;
    if (result.checksum == at->second) return;
    std::printf("WRONG ANSWER: %s\n", what);
    all_right = false;
}

// The papers' mode: a thread per node.
const strid::RunOptions dedicated_parking{.mode = strid::RunOptions::Mode::dedicated,
                                          .parallelism = 1};
const strid::RunOptions dedicated_spinning{.mode = strid::RunOptions::Mode::dedicated,
                                           .parallelism = 1,
                                           .waiting = strid::RunOptions::Waiting::spin};

struct Contender {
    std::string name;
    Measure measure;
};

/// One row: `ours` and `limit` in turn, `rounds` times; a bar of 0 is none.
void compare(const char* what, const Contender& ours, const Contender& limit, std::uint64_t records,
             int rounds, double bar) {
    std::vector<double> rates, limits, p50s, p99s, limit_p50s, limit_p99s;
    for (int round = 0; round < rounds; ++round) {
        const PipelineResult a = ours.measure(records);
        const PipelineResult b = limit.measure(records);
        check(what, a);
        check(limit.name.c_str(), b);
        rates.push_back(a.records_per_second() / 1e6);
        limits.push_back(b.records_per_second() / 1e6);
        p50s.push_back(static_cast<double>(a.latency_p50_ns) / 1e3);
        p99s.push_back(static_cast<double>(a.latency_p99_ns) / 1e3);
        limit_p50s.push_back(static_cast<double>(b.latency_p50_ns) / 1e3);
        limit_p99s.push_back(static_cast<double>(b.latency_p99_ns) / 1e3);
    }
    const std::vector<double> faster = ratios(rates, limits);
    const auto [low, high] = std::minmax_element(faster.begin(), faster.end());
    std::printf("| %-20s | %7.1f | %5.0f | %5.0f | %-37s | %7.1f |", what, median(rates),
                median(p50s), median(p99s), limit.name.c_str(), median(limits));
    if (limit_p99s.back() > 0) {
        std::printf(" %5.0f | %5.0f |", median(limit_p50s), median(limit_p99s));
    } else {
        std::printf("       |       |");  // it measures none
    }
    std::printf(" %6.2f (%.2f to %.2f) |\n", median(faster), *low, *high);
    if (bar > 0) {
        bars.push_back(
            bar_line(std::string(what) + " / " + limit.name, median(faster), Bar::at_least, bar));
    }
    std::fflush(stdout);
}

struct Percentiles {
    std::int64_t p50_ns, p99_ns;
};

/// Open loop at a rate, from the scheduled time to the sink.
Percentiles engine_latency(std::uint64_t records, double rate, strid::RunOptions options) {
    strid::Graph graph{"latency"};
    graph
        .source(strid::generate<Record64>(
            [source = PipelineSource{}](strid::Random&, std::uint64_t) mutable {
                Record64 record;
                source.fill(record);
                return record;
            },
            {.count = records, .rate_per_second = rate}))
        .rebalance()
        .map([](Record64& record) { pipeline_map(record); })
        .filter([](const Record64& record) { return pipeline_keep(record); })
        .sink(strid::discard());
    options.parallelism = 1;
    const auto report = strid::run(graph, options);
    return {report.latency.p50_ns, report.latency.p99_ns};
}

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// An idle graph, and how soon the first record after a pause comes out.
void idle_rows() {
    strid::Graph graph{"idle"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>();
    auto outlet = std::move(stream)
                      .key_by([](const std::uint64_t& n) { return n; })
                      .map([](const std::uint64_t& n) { return n + 1; })
                      .outlet();
    auto running = strid::start(graph);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const double before = processor_seconds();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    const double share = (processor_seconds() - before) / 2;
    std::vector<double> waits_us;
    for (std::uint64_t n = 0; n < 200; ++n) {
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        const auto pushed = strid::now_ns();
        inlet.push(n);
        if (outlet.pop() != n + 1) all_right = false;
        waits_us.push_back(static_cast<double>(strid::now_ns() - pushed) / 1e3);
    }
    inlet.close();
    running.wait();
    std::printf(
        "\nidle graph: %.2f %% of one processor; first record after a pause of 3 ms: median %.0f "
        "us\n",
        share * 100, median(waits_us));
    print_bar("idle graph, % of one processor", share * 100, Bar::at_most, 1);
    print_bar("idle graph, us to the first record after a pause", median(waits_us), Bar::at_most,
              100);
}

void latency_rows(int rounds) {
    constexpr double rate = 10'000;
    constexpr std::uint64_t records = 20'000;
    struct Row {
        const char* name;
        std::function<Percentiles()> measure;
        std::vector<double> p50s_us = {};
        std::vector<double> p99s_us = {};
    };
    const auto engine = [](strid::RunOptions options) {
        return [options] { return engine_latency(records, rate, options); };
    };
    const auto by_hand = [] {
        const auto result = hand::run_pipeline_latency(records, static_cast<std::uint64_t>(rate),
                                                       hand::Waiting::park);
        return Percentiles{result.percentile_ns(50), result.percentile_ns(99)};
    };
    std::vector<Row> rows = {{"cooperative, two workers (default)", engine({})},
                             {"a thread per node, parking", engine(dedicated_parking)},
                             {"a thread per node, spinning", engine(dedicated_spinning)},
                             {"hand-written two-thread ring, parking", by_hand}};
    for (int round = 0; round < rounds; ++round) {
        for (Row& row : rows) {
            const Percentiles latency = row.measure();
            row.p50s_us.push_back(static_cast<double>(latency.p50_ns) / 1e3);
            row.p99s_us.push_back(static_cast<double>(latency.p99_ns) / 1e3);
        }
    }
    std::printf("\nLatency at 10 K records/s, open loop, map on another core\n\n");
    std::printf("| %-37s | p50 us | p99 us |\n|---|---:|---:|\n", "");
    for (const Row& row : rows) {
        std::printf("| %-37s | %6.1f | %6.1f |\n", row.name, median(row.p50s_us),
                    median(row.p99s_us));
    }
    std::printf("\n");
    const Row& ours = rows.front();
    const Row& hand = rows.back();
    print_bar("latency at 10 K records/s, p50 / hand-written",
              median(ours.p50s_us) / median(hand.p50s_us), Bar::at_most, 2);
    print_bar("latency at 10 K records/s, p99 / hand-written",
              median(ours.p99s_us) / median(hand.p99s_us), Bar::at_most, 3);
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50'000'000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
    if (records == 0 || rounds <= 0) {
        std::fprintf(stderr, "usage: engine_bench [RECORDS [ROUNDS]]\n");
        return 2;
    }
    std::printf(
        "Source, map, filter, sink over records of 64 bytes: M records/s; microseconds from the\n"
        "source to the sink at that rate\n\n");
    std::printf("| %-20s | %7s | %5s | %5s | %-37s | %7s | %5s | %5s | ratio (spread) |\n%s\n",
                "ours", "rate", "p50", "p99", "against", "rate", "p50", "p99",
                "|---|---:|---:|---:|---|---:|---:|---:|---|");
    const Contender fused{"fused", [](auto n) { return run_engine_pipeline(n, Layout::fused); }};
    const Contender apart{"apart",
                          [](auto n) { return run_engine_pipeline(n, Layout::map_elsewhere); }};
    compare("fused, one worker", fused, {"hand-written loop", hand::run_pipeline_fused}, records,
            rounds, 0.9);
    compare("fused, one worker", fused,
            {"hand-written loop, batches of 256", hand::run_pipeline_batched<256>}, records, rounds,
            0.9);
    compare("map on another core", apart,
            {"hand-written, memcpy through a ring", hand::run_pipeline_two_threads<256, 16>},
            records, rounds, 0.8);
#ifdef STRID_BENCH_TBB
    using peers::FlowGraphNodes;
    const std::uint64_t few = std::max<std::uint64_t>(records / 50, 1);
    compare("map on another core", apart,
            {"oneTBB parallel_pipeline, one a token",
             [=](auto) { return peers::run_tbb_parallel_pipeline(few, 1, 2); }},
            records, rounds, 20);
    compare("map on another core", apart,
            {"oneTBB parallel_pipeline, 256 a token",
             [](auto n) { return peers::run_tbb_parallel_pipeline(n, 256, 2); }},
            records, rounds, 1);
    compare(
        "map on another core", apart,
        {"oneTBB flow graph, one a token",
         [=](auto) { return peers::run_tbb_flow_graph(few, 1, 2, FlowGraphNodes::lightweight); }},
        records, rounds, 20);
    compare(
        "map on another core", apart,
        {"oneTBB flow graph, 256 a token",
         [](auto n) { return peers::run_tbb_flow_graph(n, 256, 2, FlowGraphNodes::lightweight); }},
        records, rounds, 1);
#endif
    compare(
        "map on another core", apart,
        {"a thread per node, parking",
         [](auto n) { return run_engine_pipeline(n, Layout::map_elsewhere, dedicated_parking); }},
        records, rounds, 0);
    compare(
        "map on another core", apart,
        {"a thread per node, spinning",
         [](auto n) { return run_engine_pipeline(n, Layout::map_elsewhere, dedicated_spinning); }},
        records, rounds, 0);
    strid::RunOptions node_each = dedicated_parking;
    node_each.fuse = false;
    compare("fused, one worker", fused,
            {"a thread per operator, parking",
             [=](auto n) { return run_engine_pipeline(n, Layout::fused, node_each); }},
            std::max<std::uint64_t>(records / 5, 1), rounds, 0);
    std::printf("\n");
    for (const std::string& bar : bars) std::fputs(bar.c_str(), stdout);
    latency_rows(std::min(rounds, 3));
    idle_rows();
    std::printf("\nanswers: %s\n", all_right ? "all equal" : "WRONG");
    return all_right ? 0 : 1;
}
