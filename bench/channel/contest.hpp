// SPDX-License-Identifier: Apache-2.0
//
// Contestants of a channel benchmark, measured in turn, and the rows of their tables. A round runs
// every contestant once, so that a disturbance meets all alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../statistics.hpp"
#include "transfer.hpp"

namespace strid::bench {

struct Contestant {
    std::string name;
    std::size_t batch = 1;
    bool is_peer = false;
    std::function<double()> measure_ns;             ///< per item, at full speed
    std::function<Latency()> measure_latency = {};  ///< of the same configuration
    std::vector<double> samples_ns = {};
    std::vector<double> p50_ns = {};
    std::vector<double> p99_ns = {};

    void measure() {
        samples_ns.push_back(measure_ns());
        if (!measure_latency) return;
        const Latency latency = measure_latency();
        p50_ns.push_back(latency.p50_ns);
        p99_ns.push_back(latency.p99_ns);
    }
};

/// The table of all: medians over the rounds, of the rates with their quartiles. `latency` says
/// what the percentiles are of.
inline void print_table(const std::vector<Contestant>& all, const std::string& latency) {
    fmt::print("| {:<32} | batch | ns per item | quartiles        | {} p50 ns | p99 ns |\n",
               "queue", latency);
    fmt::print("|---|---:|---:|---|---:|---:|\n");
    for (const Contestant& one : all) {
        fmt::print("| {:<32} | {:>5} | {:>11.2f} | {:>6.2f} to {:<6.2f} |", one.name, one.batch,
                   quantile(one.samples_ns, 0.5), quantile(one.samples_ns, 0.25),
                   quantile(one.samples_ns, 0.75));
        if (one.p50_ns.empty()) {
            fmt::print(" | |\n");
        } else {
            fmt::print(" {:>6.0f} | {:>6.0f} |\n", quantile(one.p50_ns, 0.5),
                       quantile(one.p99_ns, 0.5));
        }
    }
}

/// Times that `ours` is faster, round by round.
inline std::vector<double> ratios(const Contestant& ours, const Contestant& peer) {
    return ratios(peer.samples_ns, ours.samples_ns);
}

}  // namespace strid::bench
