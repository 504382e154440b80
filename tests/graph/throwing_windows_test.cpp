// SPDX-License-Identifier: Apache-2.0
//
// Functions of windows and joins that throw, at the first, a middle and the last call, in every
// mode: the run ends, and the error names the operator.
#include <atomic>
#include <functional>
#include <string>

#include <gmock/gmock.h>

#include <strid/window/content.hpp>

#include "windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

std::vector<Event> ordered_events(std::uint64_t seed, std::size_t count) {
    return random_events(seed, {.disorder = 0, .too_late = 0}, count);
}

/// Throws when it is called for the `at`th time; 0: never.
struct Probe {
    std::shared_ptr<std::atomic<std::uint64_t>> calls =
        std::make_shared<std::atomic<std::uint64_t>>(0);
    std::uint64_t at = 0;

    void operator()() const {
        // Relaxed: a count that hands over nothing.
        if (calls->fetch_add(1, std::memory_order_relaxed) + 1 == at) {
            throw std::runtime_error("the function broke");
        }
    }
};

struct Alarm {
    Probe probe;

    template <class Emit>
    void operator()(const Event& event, Timers& timers, Emit&) {
        timers.at(event.time + 5ns);
    }
    template <class Emit>
    void on_timer(EventTime time, Timers&, Emit& emit) {
        probe();
        emit(time.ns());
    }
};

/// An operator 'broken' with the probe in its function, behind one stream or two.
using Wiring = std::function<void(Graph&, const std::vector<Event>&, const Probe&)>;

const auto ignore = [](const auto&) {};
const auto side = on(&Event::key, &Event::time);

/// A field that breaks.
auto value_with(const Probe& probe) {
    return [probe](const Event& event) {
        probe();
        return event.value;
    };
}

/// A container that breaks when a record is put in.
class BreakingList {
  public:
    explicit BreakingList(Probe probe) : probe_(std::move(probe)) {}
    void insert(const Event& event) {
        probe_();
        values_.push_back(event.value);
    }
    void expire(std::size_t count) {
        values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    void reset() { values_.clear(); }
    [[nodiscard]] std::size_t size() const { return values_.size(); }
    [[nodiscard]] const std::vector<std::int64_t>& content() const { return values_; }

  private:
    Probe probe_;
    std::vector<std::int64_t> values_;
};

struct Broken {
    const char* what;
    const char* operator_name;
    Wiring wire;
};

const Broken broken_ones[] = {
    {"full content", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(sliding(100, 30), &Event::time, window::content<Event>([probe](auto records) {
                         probe();
                         return records.size();
                     }),
                     {.name = "broken"})
             .sink(ignore);
     }},
    {"farmed content", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .group_by<&Event::key>()
             .parallel_windows(sliding(100, 30), &Event::time,
                               window::content<Event>([probe](auto records) {
                                   probe();
                                   return records.size();
                               }),
                               {.name = "broken"})
             .sink(ignore);
     }},
    {"a process function", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(window::CountWindows::sliding(20, 5),
                     window::process<Event, std::int64_t>([probe](std::uint32_t, const auto&,
                                                                  std::span<const Event> records,
                                                                  auto& emit) {
                         emit(records.front().value);
                         probe();
                     }),
                     {.name = "broken"})
             .sink(ignore);
     }},
    {"a trigger", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(window::global([probe](const Event&) {
                         probe();
                         return window::Trigger::wait;
                     }),
                     sum, {.name = "broken"})
             .sink(ignore);
     }},
    {"a timer", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .process<std::int64_t>(Alarm{probe}, {.name = "broken"})
             .sink(ignore);
     }},
    {"an interval join", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         interval_join(stream_of(graph, events), stream_of(graph, events), side, side,
                       {{-50ns}, {50ns}},
                       [probe](const Event& a, const Event& b) {
                           probe();
                           return a.value + b.value;
                       },
                       {.name = "broken"})
             .sink(ignore);
     }},
    {"a window join", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         window_join(stream_of(graph, events), stream_of(graph, events), side, side,
                     TimeWindows::tumbling(100ns),
                     [probe](const Event& a, const Event& b) {
                         probe();
                         return a.value + b.value;
                     },
                     {.name = "broken"})
             .sink(ignore);
     }},
    {"full content of a session", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(SessionWindows::with_gap(20ns), &Event::time,
                     window::content<Event>([probe](auto records) {
                         probe();
                         return records.size();
                     }),
                     {.name = "broken"})
             .sink(ignore);
     }},
    {"a container", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(window::CountWindows::sliding(20, 5),
                     window::contained<Event>(
                         BreakingList{probe},
                         [](const std::vector<std::int64_t>& all) { return all.size(); }),
                     {.name = "broken"})
             .sink(ignore);
     }},
    {"a combined sum", "broken-parts",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .group_by<&Event::key>()
             .combined_windows(sliding(100, 30), &Event::time,
                               window::sum<Event>(value_with(probe)), {.name = "broken"})
             .sink(ignore);
     }},
    {"a paned sum", "broken-panes",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .group_by<&Event::key>()
             .paned_windows(sliding(100, 30), &Event::time, window::sum<Event>(value_with(probe)),
                            {.name = "broken"})
             .sink(ignore);
     }},
    {"a paned sum of counts", "broken-panes",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .group_by<&Event::key>()
             .paned_windows(window::CountWindows::sliding(20, 5),
                            window::sum<Event>(value_with(probe)), {.name = "broken"})
             .sink(ignore);
     }},
    {"a map-reduced sum", "broken-map",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .group_by<&Event::key>()
             .map_reduce_windows(sliding(100, 30), &Event::time,
                                 window::sum<Event>(value_with(probe)), {.name = "broken"})
             .sink(ignore);
     }},
};

TEST(WindowFaults, AFunctionThatThrowsEndsTheRunAndNamesTheOperator) {
    for (const auto& [name, operator_name, wire] : broken_ones) {
        const auto events = ordered_events(1, 400);
        Probe counting;
        Graph whole{"whole"};
        wire(whole, events, counting);
        run(whole, run_options(2));
        const std::uint64_t calls = *counting.calls;
        ASSERT_GT(calls, 10U) << name;
        for (const std::uint64_t seed : test::seeds(4)) {
            for (const std::uint64_t at : {std::uint64_t{1}, calls / 2, calls}) {
                Graph graph{"broken"};
                wire(graph, events, {.at = at});
                try {
                    run(graph, run_options(seed));
                    ADD_FAILURE() << name << ", call " << at << ": nothing was thrown";
                } catch (const OperatorError& error) {
                    EXPECT_EQ(error.operator_name(), operator_name) << name;
                    EXPECT_THAT(error.what(), testing::HasSubstr("the function broke")) << name;
                }
            }
        }
    }
}

}  // namespace
}  // namespace strid
