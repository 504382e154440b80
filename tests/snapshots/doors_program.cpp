// SPDX-License-Identifier: Apache-2.0
//
// A program whose threads push into a graph, or pop from it, and that is killed and started again
// (doors_killed_test.py). It goes on from what is in its folder.
//
//     doors_program inlet FOLDER COUNT chunk|times|never
//     doors_program outlet FOLDER COUNT committed|at_once
//
// `inlet`: the numbers below COUNT are pushed, from accepted() on, and written to out.csv, each
// with the sum of all so far. `outlet`: the numbers are popped, and each is appended to the file
// `effects` with its epoch and its number, once.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <tuple>

#include <fcntl.h>
#include <unistd.h>

#include <strid/connector/generate.hpp>
#include <strid/strid.hpp>

using namespace std::chrono_literals;

namespace {

struct Order {
    std::uint64_t number = 0;
    std::string text;
};
struct Sum {
    std::uint64_t number;
    std::uint64_t sum;
    std::string text;
};
struct Sums {
    static constexpr strid::FunctionTraits traits{.hears = strid::events<>};
    Sum operator()(const Order& order) {
        sum += order.number;
        return {order.number, sum, order.text};
    }
    auto state() { return std::tie(sum); }
    std::uint64_t sum = 0;
};

strid::RunOptions options_of(const std::string& folder) {
    return {.snapshots = {.folder = folder + "/state", .every = 10ms}};
}

int run_inlet(const std::string& folder, std::uint64_t count, const std::string& sync) {
    using enum strid::JournalSync;
    strid::Graph graph("inlet");
    auto [inlet, orders] = graph.journalled_inlet<Order>(
        {.folder = folder + "/journal",
         .sync = sync == "chunk" ? each_chunk : (sync == "times" ? at_times : never),
         .sync_every = 5ms,
         .file_bytes = 20'000},
        {.name = "orders"}, 64);
    std::move(orders)
        .map(Sums{}, {.name = "sums"})
        .sink(strid::csv_writer<Sum>(folder + "/out.csv"), {.name = "write"});
    strid::Running running = strid::start(graph, options_of(folder));
    for (std::uint64_t next = inlet.accepted(); next < count; ++next) {
        if (!inlet.push(Order{next, "order-" + std::to_string(next % 100)})) return 1;
        if (next % 64 == 0) std::this_thread::sleep_for(1ms);
    }
    inlet.close();
    running.wait();
    return inlet.accepted() == count ? 0 : 1;
}

/// The effects so far that stand: whole lines, of the epochs up to `epoch`. Returns how many.
std::uint64_t cut_effects(const std::string& path, std::uint64_t epoch) {
    std::ifstream file(path);
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
    for (std::string line; std::getline(file, line) && !file.eof();) {
        if (std::strtoull(line.c_str(), nullptr, 10) > epoch) break;
        bytes += line.size() + 1;
        ++count;
    }
    if (file.is_open() && ::truncate(path.c_str(), static_cast<::off_t>(bytes)) != 0) std::abort();
    return count;
}

int run_outlet(const std::string& folder, std::uint64_t count, bool committed) {
    strid::Graph graph("outlet");
    auto outlet =
        graph
            .source(strid::generate([](strid::Random&, std::uint64_t i) { return i * 3; },
                                    {.count = count, .rate_per_second = 40'000}),
                    {.name = "numbers"})
            .map([](std::uint64_t number) {
                return Order{number, std::to_string(number)};
            })
            .epoch_outlet({.committed = committed, .capacity_records = 100}, {.name = "out"});
    strid::Running running = strid::start(graph, options_of(folder));
    const std::string path = folder + "/effects";
    // Effects of committed records stay, whatever snapshot the run goes on from.
    const std::uint64_t all = ~std::uint64_t{0};
    std::uint64_t next = cut_effects(path, committed ? all : outlet.goes_on_behind());
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    while (const auto popped = outlet.pop()) {
        if (popped->number < next) continue;
        if (popped->number > next) {
            std::fprintf(stderr, "records %llu to %llu are lost\n",
                         static_cast<unsigned long long>(next),
                         static_cast<unsigned long long>(popped->number));
            return 3;
        }
        const std::string line = std::to_string(popped->epoch) + "," +
                                 std::to_string(popped->number) + "," + popped->record.text + "\n";
        if (::write(file, line.data(), line.size()) != static_cast<::ssize_t>(line.size()))
            return 1;
        ++next;
    }
    running.wait();
    return next == count ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    const std::string door = argv[1];
    try {
        const std::uint64_t count = std::strtoull(argv[3], nullptr, 10);
        return door == "inlet" ? run_inlet(argv[2], count, argv[4])
                               : run_outlet(argv[2], count, std::string(argv[4]) == "committed");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 4;
    }
}
