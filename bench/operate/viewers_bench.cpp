// SPDX-License-Identifier: Apache-2.0
//
// The cost of viewers: a graph of 50 operators, each a task of its own, at full speed, whose events
// ten viewers read, as open pages do. Seconds with viewers and seconds without alternate in one
// run. Measured are the processor time of the server's threads as a part of that of the process,
// which neighbours on the machine do not disturb, and the rate with viewers by the rate without.
//
//   viewers_bench [ROUNDS [VIEWERS]]      10 rounds of 2 + 2 seconds
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <strid/connector/generator.hpp>
#include <strid/operate/http_server.hpp>
#include <strid/stream/graph.hpp>

#include "../bar.hpp"

namespace strid {
namespace {

constexpr int operators = 50;
constexpr std::chrono::seconds phase{2};

Generator<std::uint64_t> numbers() {
    for (std::uint64_t i = 0;; ++i) co_yield i;
}

/// Reads events until it is stopped.
class Viewer {
  public:
    explicit Viewer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        ::sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const std::string request = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
        if (::connect(socket_, reinterpret_cast<const ::sockaddr*>(&address), sizeof address) !=
                0 ||
            ::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
            std::perror("viewers_bench");
            std::exit(1);
        }
        thread_ = std::thread([this] { read(); });
    }
    Viewer(const Viewer&) = delete;
    Viewer& operator=(const Viewer&) = delete;
    ~Viewer() {
        ::shutdown(socket_, SHUT_RDWR);
        thread_.join();
        ::close(socket_);
    }
    /// An event ends with an empty line.
    [[nodiscard]] int events() const { return events_.load(std::memory_order_relaxed); }

  private:
    void read() {
        std::vector<char> piece(1 << 16);
        for (;;) {
            const ssize_t bytes = ::recv(socket_, piece.data(), piece.size(), 0);
            if (bytes <= 0) return;
            const std::string_view text(piece.data(), static_cast<std::size_t>(bytes));
            if (text.ends_with("\n\n")) events_.fetch_add(1, std::memory_order_relaxed);
        }
    }

    int socket_;
    std::atomic<int> events_{0};
    std::thread thread_;
};

/// The processor time that the threads of the server have had, by the scheduler.
double server_seconds() {
    double seconds = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        double ns = 0;
        std::getline(std::ifstream(task.path() / "comm"), name);
        if (name == "strid-http" && std::ifstream(task.path() / "schedstat") >> ns) {
            seconds += ns * 1e-9;
        }
    }
    return seconds;
}

double process_seconds() {
    ::rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

double median(std::vector<double> all) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
}

struct Phase {
    double rate;
    double server_share;
};

Phase measured(const Running& running) {
    const double server = server_seconds();
    const double process = process_seconds();
    const RunReport before = running.report();
    std::this_thread::sleep_for(phase);
    const RunReport now = running.report();
    return {static_cast<double>(now.records_out() - before.records_out()) /
                (now.seconds - before.seconds),
            (server_seconds() - server) / (process_seconds() - process)};
}

int measure(int rounds, std::size_t viewers) {
    Graph graph{"viewers"};
    auto stream = graph.source(from_generator(numbers)).separate();
    auto next = std::move(stream).map([](std::uint64_t& n) { ++n; }).separate();
    for (int i = 3; i < operators; ++i) {
        next = std::move(next).map([](std::uint64_t& n) { n = n * 31 + 7; }).separate();
    }
    std::move(next).sink([](std::uint64_t) {});
    const RunOptions options;
    operate::HttpServer server({.port = 0, .connections_max = 64, .streams_max = 48});
    server.prepare({.graph = graph, .options = options});
    Running running = start(graph, options);
    server.begin(running);
    (void)running.wait_for(phase);  // warm
    std::vector<double> ratios;
    std::vector<double> shares;
    bool are_served = true;
    for (int round = 0; round < rounds; ++round) {
        const double alone = measured(running).rate;
        std::vector<std::unique_ptr<Viewer>> open;
        for (std::size_t i = 0; i < viewers; ++i) {
            open.push_back(std::make_unique<Viewer>(server.port()));
        }
        const Phase watched = measured(running);
        for (const auto& one : open) are_served = are_served && one->events() >= 2;
        ratios.push_back(watched.rate / alone);
        shares.push_back(watched.server_share);
    }
    running.cancel();
    server.end();
    std::printf(
        "| %d operators, %zu viewers | share of the processor time | rate by that without |\n"
        "|---|---:|---:|\n| median of %d | %.4f | %.3f |\n",
        operators, viewers, rounds, median(shares), median(ratios));
    bench::print_bar("ten viewers of a run of 50 operators, share of its processor time",
                     median(shares), bench::Bar::at_most, 0.01);
    bench::print_reported("ten viewers of a run of 50 operators, rate by that without",
                          median(ratios), "times");
    if (!are_served) std::fputs("viewers_bench: a viewer did not get its events\n", stderr);
    return are_served ? 0 : 1;
}

}  // namespace
}  // namespace strid

int main(int argc, char** argv) {
    constexpr int rounds = 10;
    constexpr std::size_t viewers = 10;
    return strid::measure(argc > 1 ? std::atoi(argv[1]) : rounds,
                          argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : viewers);
}
