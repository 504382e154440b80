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

#include "../hand/latency.hpp"
#include "../hand/pipeline.hpp"
#include "pipeline.hpp"

#ifdef STRID_BENCH_TBB
#include "../peers/tbb_pipeline.hpp"
#endif

namespace {

using namespace strid::bench;
using Measure = std::function<PipelineResult(std::uint64_t)>;

bool all_right = true;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Against the hand-written loop over as many records.
void check(const char* what, const PipelineResult& result) {
    static std::map<std::uint64_t, PipelineChecksum> expected;
    const auto [at, is_new] = expected.try_emplace(result.records);
    if (is_new) at->second = hand::run_pipeline_fused(result.records).checksum;
    if (result.checksum == at->second) return;
    std::printf("WRONG ANSWER: %s\n", what);
    all_right = false;
}

struct Contender {
    std::string name;
    Measure measure;
};

/// One row: `ours` and `limit` in turn, `rounds` times.
void compare(const char* what, const Contender& ours, const Contender& limit, std::uint64_t records,
             int rounds, double bar) {
    std::vector<double> rates, limits, ratios, p50s, p99s;
    for (int round = 0; round < rounds; ++round) {
        const PipelineResult a = ours.measure(records);
        const PipelineResult b = limit.measure(records);
        check(what, a);
        check(limit.name.c_str(), b);
        rates.push_back(a.records_per_second() / 1e6);
        limits.push_back(b.records_per_second() / 1e6);
        ratios.push_back(rates.back() / limits.back());
        p50s.push_back(static_cast<double>(a.latency_p50_ns) / 1e3);
        p99s.push_back(static_cast<double>(a.latency_p99_ns) / 1e3);
    }
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    std::printf(
        "| %-20s | %7.1f | %5.0f | %5.0f | %-37s | %7.1f | %6.2f (%.2f to %.2f) | %5.1f |\n", what,
        median(rates), median(p50s), median(p99s), limit.name.c_str(), median(limits),
        median(ratios), *low, *high, bar);
    std::fflush(stdout);
}

struct Percentiles {
    std::int64_t p50_ns, p99_ns;
};

/// Open loop at a rate: the engine's default, from the scheduled time to the sink.
Percentiles engine_latency(std::uint64_t records, double rate) {
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
        .sink([](const Record64&) {});
    strid::RunOptions options;
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
        "\nidle graph: %.2f %% of one processor (bar: under 1 %%); first record after a "
        "pause of 3 ms: median %.0f us (bar: under 100)\n",
        share * 100, median(waits_us));
}

void latency_rows(int rounds) {
    constexpr double rate = 10'000;
    std::vector<double> p50, p99, hand_p50, hand_p99;
    for (int round = 0; round < rounds; ++round) {
        const auto ours = engine_latency(20'000, rate);
        const auto hand = hand::run_pipeline_latency(20'000, 10'000, hand::Waiting::park);
        p50.push_back(static_cast<double>(ours.p50_ns) / 1e3);
        p99.push_back(static_cast<double>(ours.p99_ns) / 1e3);
        hand_p50.push_back(static_cast<double>(hand.percentile_ns(50)) / 1e3);
        hand_p99.push_back(static_cast<double>(hand.percentile_ns(99)) / 1e3);
    }
    std::printf(
        "\nlatency at 10 K records/s, open loop, two workers: median %.1f us, 99th "
        "percentile %.1f us;\n  hand-written two-thread ring, parking: %.1f us, %.1f us "
        "(bars: within 2 times, 3 times)\n",
        median(p50), median(p99), median(hand_p50), median(hand_p99));
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
    std::printf("| %-20s | %7s | %5s | %5s | %-37s | %7s | ratio (spread) | bar |\n%s\n", "ours",
                "rate", "p50", "p99", "against", "rate", "|---|---|---|---|---|---|---|---|");
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
    latency_rows(std::min(rounds, 3));
    idle_rows();
    std::printf("\nanswers: %s\n", all_right ? "all equal" : "WRONG");
    return all_right ? 0 : 1;
}
