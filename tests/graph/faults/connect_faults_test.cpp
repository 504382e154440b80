// SPDX-License-Identifier: Apache-2.0
//
// Functions of two connected streams that throw (throwing.hpp).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <strid/stream/connect.hpp>

#include "throwing.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

struct Order {
    std::uint32_t key;
    EventTime time;
};

enum class Where : std::uint8_t { left, right, timer };

struct Breaks {
    static constexpr FunctionTraits traits{.hears = events<>, .stateless = true};
    Probe probe;
    Where where;

    void operator()(const Event& event, Timers& timers, Emitter<std::int64_t>& emit) {
        if (where == Where::left) probe();
        timers.at(event.time + 5ns);
        emit(event.value);
    }
    void operator()(const Order&, Timers&, Emitter<std::int64_t>&) {
        if (where == Where::right) probe();
    }
    void on_timer(EventTime time, Timers&, Emitter<std::int64_t>& emit) {
        if (where == Where::timer) probe();
        emit(time.ns());
    }
};

Wiring connected(Where where) {
    return [where](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
        auto orders = stream_of(graph, events).map([](const Event& event) {
            return Order{event.key, event.time};
        });
        connect(stream_of(graph, events), std::move(orders), on<&Event::key, &Order::key>())
            .process<std::int64_t>(Breaks{probe, where}, {.name = "broken"})
            .sink(ignore);
    };
}

TEST(Connect, AFunctionThatThrowsEndsTheRun) {
    const Broken ones[] = {{"left", "broken", connected(Where::left)},
                           {"right", "broken", connected(Where::right)},
                           {"timer", "broken", connected(Where::timer)}};
    end_the_run_and_name_the_operator(ones);
}

/// Throws for even values and for orders.
struct Odd {
    static constexpr FunctionTraits traits{.hears = events<>, .sets_no_timers = true};
    void operator()(const Event& event, Timers&, auto& emit) {
        if (event.value % 2 == 0) throw std::runtime_error("even");
        emit(event.value);
    }
    void operator()(const Order&, Timers&, auto&) { throw std::runtime_error("order"); }
};

/// An exception leaves its record out, if the options ask for that.
TEST(Connect, SkipsWhatItsFunctionThrowsFor) {
    for (const std::uint64_t seed : test::seeds(4)) {
        const auto events = ordered_events(seed, 500);
        std::vector<std::int64_t> odd;
        for (const Event& event : events) {
            if (event.value % 2 != 0) odd.push_back(event.value);
        }
        Graph graph{"skip"};
        auto values = std::make_shared<Collected<std::int64_t>>();
        connect(stream_of(graph, events),
                graph.source(replay(std::vector<Order>{{1, at(5)}, {2, at(6)}})),
                on<&Event::key, &Order::key>())
            .process<std::int64_t>(Odd{}, {.name = "odd", .on_exception = OnException::skip})
            .sink(collect_into(values));
        const RunReport report = run(graph, run_options(seed));
        auto answer = values->records();
        std::sort(answer.begin(), answer.end());
        std::sort(odd.begin(), odd.end());
        ASSERT_EQ(answer, odd) << "seed " << seed;
        ASSERT_EQ(report.find("odd")->records_skipped, events.size() - odd.size() + 2);
    }
}

}  // namespace
}  // namespace strid
