// SPDX-License-Identifier: Apache-2.0
//
// A function with state and timers by key: says when a device falls silent for ten seconds, and
// when it comes back.
//
// Timers of event time go by the watermark, which comes with the batches. A reading that lies
// behind a timer may therefore arrive before the timer fires; operator() allows for that.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <tuple>
#include <vector>

#include <strid/strid.hpp>

using namespace std::chrono_literals;

struct Reading {
    std::int64_t second;
    std::uint32_t device;
};
struct Change {
    std::int64_t second;
    std::uint32_t device;
    bool silent;
};

/// One copy for each device.
class Silence {
  public:
    void operator()(const Reading& reading, strid::Timers& timers, strid::Emitter<Change>& emit) {
        device_ = reading.device;
        const strid::EventTime time{std::chrono::seconds{reading.second}};
        timers.cancel(due_);
        if (time >= due_) fall_silent(emit);  // the timer has not fired yet
        if (silent_) emit(Change{reading.second, device_, false});
        silent_ = false;
        due_ = time + 10s;
        timers.at(due_);
    }
    void on_timer(strid::EventTime, strid::Timers&, strid::Emitter<Change>& emit) {
        fall_silent(emit);
    }

  private:
    void fall_silent(strid::Emitter<Change>& emit) {
        emit(Change{due_.ns() / 1'000'000'000, device_, true});
        silent_ = true;
        due_ = strid::EventTime::latest();
    }

    std::uint32_t device_ = 0;
    bool silent_ = false;
    strid::EventTime due_ = strid::EventTime::latest();
};

int main(int argc, char** argv) {
    std::vector<Change> changes;
    strid::Graph graph{"idle-devices"};
    graph.source(strid::csv_file<Reading>("readings.csv"))
        .event_time(
            [](const Reading& r) { return strid::EventTime{std::chrono::seconds{r.second}}; },
            strid::MonotonousTime{})
        .key_by<&Reading::device>()
        .process<Change>(Silence{})
        .sink([&changes](const Change& change) { changes.push_back(change); });
    const int status = strid::run(graph, argc, argv);

    std::ranges::sort(changes, {}, [](const Change& c) { return std::tuple{c.second, c.device}; });
    for (const Change& change : changes) {
        std::printf("%d s: device %d is %s\n", static_cast<int>(change.second),
                    static_cast<int>(change.device), change.silent ? "silent" : "back");
    }
    return status;
}
