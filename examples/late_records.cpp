// SPDX-License-Identifier: Apache-2.0
//
// Packets by port in windows of ten seconds of event time, from records out of order. Records that
// come too late for their window are a stream of their own.
//
// The watermark lies three seconds behind the latest record. A window fires when the watermark
// reaches its end; a record is late when its window has fired.
#include <chrono>
#include <cstdint>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

using namespace std::chrono_literals;

struct Packet {
    std::int64_t second;
    std::uint16_t port;
    std::uint32_t bytes;
};
struct Traffic {
    std::int64_t from_second;
    std::uint16_t port;
    std::uint64_t bytes;
};

constexpr auto time_of = [](const Packet& packet) {
    return strid::EventTime{std::chrono::seconds{packet.second}};
};
constexpr auto traffic_of = [](const auto& result) {
    return Traffic{result.window.start.ns() / 1'000'000'000, result.key, result.value};
};

int main(int argc, char** argv) {
    strid::Graph graph{"late-records"};
    auto [results, late] = graph.source(strid::csv_file<Packet>("packets.csv"))
                               .event_time(time_of, strid::BoundedDisorder{3s})
                               .key_by<&Packet::port>()
                               .window(strid::window::TimeWindows::tumbling(10s),
                                       strid::window::sum<&Packet::bytes>(), strid::late_apart);
    std::move(results).map(traffic_of).sink(strid::csv_writer<Traffic>("traffic.csv"));
    std::move(late).sink(strid::csv_writer<Packet>("late.csv"));
    return strid::run(graph, argc, argv);
}
