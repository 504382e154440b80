// SPDX-License-Identifier: Apache-2.0
//
// For WindFlow 4.2: readings by sensor in windows of ten seconds, every five; the program of
// docs/porting-from-windflow.md as it is before it is ported. It prints a row for each window.
//
//     readings FILE      rows of milliseconds, sensor, value
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

#include <windflow.hpp>

struct Line {
    std::string text;
};
struct Reading {
    std::int64_t ms = 0;
    int sensor = 0;
    std::int64_t value = 0;
};
struct Total {
    int sensor = 0;
    std::uint64_t window = 0;
    std::int64_t readings = 0;
    std::int64_t sum = 0;

    Total() = default;
    Total(int of, std::uint64_t number) : sensor(of), window(number) {}
};

constexpr std::chrono::seconds length{10};
constexpr std::chrono::seconds slide{5};

/// The time of a reading has to be known where it is pushed, so that the source parses.
class Readings {
  public:
    explicit Readings(std::string path) : path_(std::move(path)) {}

    void operator()(wf::Source_Shipper<Reading>& shipper) {
        std::ifstream file{path_};
        std::uint64_t latest_us = 0;
        for (std::string line; std::getline(file, line);) {
            Reading reading;
            std::sscanf(line.c_str(), "%ld,%d,%ld", &reading.ms, &reading.sensor, &reading.value);
            const std::uint64_t us = static_cast<std::uint64_t>(reading.ms) * 1'000;
            latest_us = std::max(latest_us, us);
            shipper.pushWithTimestamp(reading, us);
            if (latest_us > 20'000'000) shipper.setNextWatermark(latest_us - 20'000'000);
        }
    }

  private:
    std::string path_;
};

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    wf::PipeGraph graph{"readings", wf::Execution_Mode_t::DEFAULT, wf::Time_Policy_t::EVENT_TIME};
    auto source =
        wf::Source_Builder(Readings{argv[1]}).withName("source").withOutputBatchSize(64).build();
    auto valid = wf::Filter_Builder([](Reading& reading) { return reading.value >= 0; })
                     .withName("valid")
                     .withOutputBatchSize(64)
                     .build();
    auto totals = wf::Keyed_Windows_Builder([](const Reading& reading, Total& total) {
                      ++total.readings;
                      total.sum += reading.value;
                  })
                      .withName("totals")
                      .withParallelism(2)
                      .withKeyBy([](const Reading& reading) -> int { return reading.sensor; })
                      .withTBWindows(length, slide)
                      .withOutputBatchSize(64)
                      .build();
    // Windows without a reading are given as well, from time 0 on.
    auto sink = wf::Sink_Builder([](std::optional<Total>& total) {
                    if (!total || total->readings == 0) return;
                    const auto start = std::chrono::milliseconds{slide} * total->window;
                    std::printf("%ld,%d,%ld,%ld\n", static_cast<long>(start.count()), total->sensor,
                                total->readings, total->sum);
                })
                    .withName("sink")
                    .build();
    graph.add_source(source).chain(valid).add(totals).add_sink(sink);
    graph.run();
}
