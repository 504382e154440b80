// SPDX-License-Identifier: Apache-2.0
//
// Functions of windows and joins that throw (throwing.hpp). Those of an algebra, folds, and joins
// that are shared by window are in throwing_algebra_test.cpp, windows that are shared in
// throwing_shared_windows_test.cpp.
#include <strid/window/aggregates/content.hpp>

#include "throwing.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

struct Alarm {
    Probe probe;

    template <class Emit>
    void operator()(const Event& event, Timers& timers, Emit&) const {
        timers.at(event.time + 5ns);
    }
    template <class Emit>
    void on_timer(EventTime time, Timers&, Emit& emit) {
        probe();
        emit(time.ns());
    }
};

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

const Broken broken_ones[] = {
    {"full content", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(sliding(100, 30), window::content<Event>([probe](auto records) {
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
         stream_of(graph, events)
             .join(stream_of(graph, events), same_key, within(-50ns, 50ns), sum_with(probe),
                   {.name = "broken"})
             .sink(ignore);
     }},
    {"a window join", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .join(stream_of(graph, events), same_key, TimeWindows::tumbling(100ns),
                   sum_with(probe), {.name = "broken"})
             .sink(ignore);
     }},
    {"full content of a session", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(SessionWindows::with_gap(20ns), window::content<Event>([probe](auto records) {
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
};

TEST(WindowFaults, AFunctionThatThrowsEndsTheRunAndNamesTheOperator) {
    end_the_run_and_name_the_operator(broken_ones);
}

}  // namespace
}  // namespace strid
