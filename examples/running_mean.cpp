// SPDX-License-Identifier: Apache-2.0
//
// The mean of each device so far, with every reading.
//
// Behind key_by() a function with state is copied for each key: RunningMean has the sum of one
// device. The state of all keys is kept for the whole run; `strid::forget_after(30min)` as an
// argument of key_by() would forget the devices that are silent for longer.
#include <cstdint>

#include <strid/strid.hpp>

struct Reading {
    std::uint32_t device;
    double value;
};
struct Mean {
    std::uint32_t device;
    std::uint64_t count;
    double mean;
};

struct RunningMean {
    double sum = 0;
    std::uint64_t count = 0;

    Mean operator()(const Reading& reading) {
        sum += reading.value;
        ++count;
        return {reading.device, count, sum / static_cast<double>(count)};
    }
};

int main(int argc, char** argv) {
    strid::Graph graph{"running-mean"};
    graph.source(strid::csv_file<Reading>("readings.csv"))
        .key_by<&Reading::device>()
        .map(RunningMean{}, {.name = "mean"})
        .sink(strid::csv_writer<Mean>("means.csv"));
    return strid::run(graph, argc, argv);
}
