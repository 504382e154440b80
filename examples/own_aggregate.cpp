// SPDX-License-Identifier: Apache-2.0
//
// An aggregate of the program's own: the price of a share weighted by volume, in sliding windows.
//
// `lift` makes a state of one record, `combine` makes one state of two, `lower` makes the result.
// From these the engine keeps windows that overlap: each record is added to one pane of five
// seconds, and both windows share the state of the pane. `combine` must be associative, and
// `combine(identity(), s)` must be `s`. `commutative` and `without` are guarantees that allow more:
// sharing the windows of one key between cores, and taking the oldest pane out of a sum.
#include <chrono>
#include <cstdint>

#include <strid/strid.hpp>

using namespace std::chrono_literals;

struct Trade {
    std::int64_t second;
    std::uint32_t share;
    std::int64_t cents;
    std::int64_t volume;
};

struct MeanPrice {
    struct State {
        std::int64_t money = 0;
        std::int64_t volume = 0;
    };
    static constexpr bool commutative = true;

    State lift(const Trade& trade) const { return {trade.cents * trade.volume, trade.volume}; }
    State identity() const { return {}; }
    State combine(const State& older, const State& newer) const {
        return {older.money + newer.money, older.volume + newer.volume};
    }
    State without(const State& total, const State& oldest) const {
        return {total.money - oldest.money, total.volume - oldest.volume};
    }
    double lower(const State& state) const {
        return static_cast<double>(state.money) / static_cast<double>(state.volume);
    }
};

struct Price {
    std::uint32_t share;
    std::int64_t until_second;
    double cents;
};

int main(int argc, char** argv) {
    strid::Graph graph{"mean-price"};
    graph.source(strid::csv_file<Trade>("trades.csv"))
        .event_time([](const Trade& t) { return strid::EventTime{std::chrono::seconds{t.second}}; },
                    strid::MonotonousTime{})
        .key_by<&Trade::share>()
        .window(strid::window::TimeWindows::sliding(10s, 5s), MeanPrice{})
        .map([](const auto& w) {
            return Price{w.key, w.window.end.ns() / 1'000'000'000, w.value};
        })
        .sink(strid::csv_writer<Price>("prices.csv"));
    return strid::run(graph, argc, argv);
}
