// SPDX-License-Identifier: Apache-2.0
//
// A live source: a meter that is read every five milliseconds until Ctrl-C.
//
// The engine calls poll() and owns the loop. A poll that finds nothing answers `idle`, and
// wake_at_ns() says when the next reading is due: meanwhile the worker sleeps. Ctrl-C ends the
// source, what is on its way reaches the sink, and run() returns 128 + the number of the signal. A
// second Ctrl-C drops what is on its way.
#include <cstdint>
#include <cstdio>
#include <tuple>

#include <strid/strid.hpp>

struct Reading {
    std::uint64_t number;
    std::uint64_t watts;
};

class Meter {
  public:
    using record_type = Reading;
    static constexpr strid::SourceTraits traits{.hears = strid::events<strid::Opened>,
                                                .has = strid::Has::wake_at_ns};

    void on(const strid::Opened&) { due_ns_ = strid::now_ns(); }

    strid::SourceStatus poll(auto& emit, std::size_t budget) {
        for (; budget > 0; --budget) {
            if (strid::now_ns() < due_ns_) return strid::SourceStatus::idle;
            due_ns_ += 5'000'000;
            const std::uint64_t number = next_++;
            // False: there is no room behind the source now. The record is taken all the same.
            if (!emit(Reading{number, 100 + number * 7 % 30})) break;
        }
        return strid::SourceStatus::more;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const { return due_ns_; }
    auto state() { return std::tie(next_); }

  private:
    std::int64_t due_ns_ = 0;
    std::uint64_t next_ = 0;
};

/// The functions of a sink are called by one thread at a time.
struct Display {
    static constexpr strid::FunctionTraits traits{.hears =
                                                      strid::events<strid::Flush, strid::Closed>};

    std::uint64_t readings = 0;
    std::uint64_t watts = 0;

    void operator()(const Reading& reading) {
        ++readings;
        watts += reading.watts;
        std::printf("%d %d\n", static_cast<int>(reading.number), static_cast<int>(reading.watts));
    }
    void on(strid::Flush) { std::fflush(stdout); }  // nothing more waits: printed rows are shown
    void on(strid::Closed) {                        // the stream has ended
        std::printf("%d readings, %d in all\n", static_cast<int>(readings),
                    static_cast<int>(watts));
    }
    auto state() { return std::tie(readings, watts); }
};

int main(int argc, char** argv) {
    strid::Graph graph{"meter"};
    graph.source(Meter{}, {.parallelism = 1}).sink(Display{});
    return strid::run(graph, argc, argv);
}
