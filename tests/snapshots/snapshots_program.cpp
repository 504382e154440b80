// SPDX-License-Identifier: Apache-2.0
//
// A program whose runs are killed and started again (killed_test.py): readings from a file, by the
// operators that --operator names, into a file.
//
//     snapshots_program --operator windows --input readings.csv --output out.csv --snapshots state
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/together.hpp>

using namespace std::chrono_literals;

namespace {

struct Reading {
    std::string_view sensor;
    std::int64_t time_ms;
    double value;
};
/// Owns its text: joins keep records for longer than their batches.
struct Kept {
    std::string sensor;
    std::int64_t time_ms;
    double value;
};
strid::EventTime time_of(const Reading& reading) {
    return strid::EventTime::of_ns(reading.time_ms * 1'000'000);
}
strid::EventTime time_of_kept(const Kept& reading) {
    return strid::EventTime::of_ns(reading.time_ms * 1'000'000);
}
Kept kept(const Reading& reading) {
    return {std::string(reading.sensor), reading.time_ms, reading.value};
}

struct Pair {
    std::string sensor;
    std::int64_t left_ms;
    std::int64_t right_ms;
};

/// A row when a sensor has been silent for a second, with how many readings it had before.
struct Silence {
    std::string sensor;
    std::int64_t time_ms;
    std::int64_t readings;
};
struct Watch {
    static constexpr strid::FunctionTraits traits{.hears = strid::events<>};
    void operator()(const Kept& reading, strid::Timers& timers, auto& /*emit*/) {
        if (last) timers.cancel(*last);
        sensor = reading.sensor;
        ++readings;
        last = time_of_kept(reading) + 1s;
        timers.at(*last);
    }
    void on_timer(strid::EventTime time, strid::Timers& timers, auto& emit) {
        emit(Silence{sensor, time.ns() / 1'000'000, readings});
        timers.forget_key();
    }
    auto state() { return std::tie(sensor, readings, last); }

    std::string sensor;
    std::int64_t readings = 0;
    std::optional<strid::EventTime> last;
};

struct Where {
    std::string graph = "windows";
    std::string input;
    std::string other;
    std::string output;
    double rate = 1e6;
    strid::CsvOptions csv = {};  // of the first input
    std::string sync = "chunk";
    bool joins_lines = false;
};

auto readings(strid::Graph& graph, const std::string& input, const Where& where) {
    return graph.source(strid::paced(strid::csv_file<Reading>(input, where.csv), where.rate))
        .event_time(time_of, strid::BoundedDisorder(200ms));
}
auto kept_readings(strid::Graph& graph, const std::string& input, const Where& where) {
    return graph.source(strid::paced(strid::csv_file<Reading>(input), where.rate))
        .map(kept)
        .event_time(time_of_kept, strid::BoundedDisorder(200ms));
}

void add_windows(strid::Graph& graph, const Where& where) {
    readings(graph, where.input, where)
        .key_by<&Reading::sensor>()
        .window(
            strid::window::TimeWindows::sliding(1s, 250ms),
            strid::window::together(strid::window::count(), strid::window::mean<&Reading::value>()))
        .sink(strid::csv_writer<
              strid::WindowResult<std::string_view, std::tuple<std::uint64_t, double>>>(
            where.output));
}
void add_join(strid::Graph& graph, const Where& where) {
    kept_readings(graph, where.input, where)
        .join(kept_readings(graph, where.other, where), strid::on<&Kept::sensor, &Kept::sensor>(),
              strid::within(-50ms, 50ms),
              [](const Kept& left, const Kept& right) {
                  return Pair{left.sensor, left.time_ms, right.time_ms};
              })
        .sink(strid::csv_writer<Pair>(where.output));
}
void add_timers(strid::Graph& graph, const Where& where) {
    kept_readings(graph, where.input, where)
        .key_by<&Kept::sensor>()
        .process<Silence>(Watch{})
        .sink(strid::csv_writer<Silence>(where.output));
}
void add_sums(strid::Graph& graph, const Where& where) {
    graph.source(strid::paced(strid::csv_file<Reading>(where.input, where.csv), where.rate))
        .key_by<&Reading::sensor>()
        .accumulate(0.0, [](double& sum, const Reading& reading) { sum += reading.value; })
        .sink(strid::csv_writer<strid::Keyed<std::string_view, double>>(where.output));
}

}  // namespace

int main(int argc, char** argv) {
    Where where;
    strid::Arguments arguments("snapshots_program", "Readings by an operator with a state");
    arguments
        .option("--operator", where.graph, "The operator",
                {.one_of = {"windows", "join", "timers", "sums"}})
        .option("--input", where.input, "CSV: sensor,time_ms,value", {.required = true})
        .option("--other", where.other, "The same, for the join")
        .option("--output", where.output, "The rows", {.required = true})
        .option("--rate", where.rate, "Readings a second of each input")
        .option("--journal", where.csv.journal.folder, "Of windows and sums: the journal of a pipe")
        .option("--journal-sync", where.sync, "When it is on the disk",
                {.one_of = {"chunk", "times", "never"}})
        .flag("--journal-join", where.joins_lines, "Its last line goes on")
        .flag("--journal-acknowledge", where.csv.journal.acknowledges, "To the socket")
        .option("--file-bytes", where.csv.journal.file_bytes, "Of its files");
    return strid::run(arguments, argc, argv, [&where] {
        using enum strid::JournalSync;
        where.csv.journal.sync =
            where.sync == "chunk" ? each_chunk : (where.sync == "times" ? at_times : never);
        where.csv.journal.sync_every = 50ms;
        where.csv.journal.whole_lines = !where.joins_lines;
        strid::Graph graph(where.graph);
        if (where.graph == "windows") add_windows(graph, where);
        if (where.graph == "join") add_join(graph, where);
        if (where.graph == "timers") add_timers(graph, where);
        if (where.graph == "sums") add_sums(graph, where);
        return graph;
    });
}
