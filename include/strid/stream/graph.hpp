// SPDX-License-Identifier: Apache-2.0
//
// The graph that an application builds and runs. It holds prototypes only: each run makes its own
// replicas, so a graph can be run several times, and a process may have several graphs.
//
// Threads: a graph is built and started by one thread at a time. Any thread may query, stop and
// cancel a `Running`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <strid/engine/plan/shared_windows.hpp>
#include <strid/engine/stream/journalled_inlet.hpp>
#include <strid/operator/refused_lines.hpp>
#include <strid/operator/source.hpp>
#include <strid/stream/as_of_join.hpp>
#include <strid/stream/drawing.hpp>
#include <strid/stream/join.hpp>
#include <strid/stream/keyed_stream.hpp>
#include <strid/stream/options.hpp>
#include <strid/stream/report.hpp>
#include <strid/stream/stream.hpp>

namespace strid {

class Running;

/// A graph of streams: declared by its member functions and those of Stream, then run, as often as
/// is wanted. Not copied. Threads: declared and run by one thread at a time.
class Graph {
  public:
    /// `name` is for reports and pictures.
    explicit Graph(std::string name) : name_(std::move(name)) {}
    // Streams point at the segments, which therefore stay where they are when a graph is moved.
    Graph(Graph&&) noexcept = default;
    Graph& operator=(Graph&&) noexcept = default;

    /// Begins a stream with a source (see strid/operator/source.hpp). Each replica polls a copy.
    template <class S>
    auto source(S source, OperatorOptions options = {}) {
        if constexpr (operators::is_source<S>()) {
            return begin(std::move(source), described(options));
        }
    }

    /// Begins a stream that other threads of the program push records into. Holds about
    /// `capacity_records`; `push` waits while it is full. An inlet has one replica and serves one
    /// run.
    template <class T>
    [[nodiscard]] auto inlet(std::size_t capacity_records = 1024, OperatorOptions options = {}) {
        auto state = std::make_shared<operators::InletState<T>>(capacity_records);
        return std::pair{Inlet<T>{state}, begin(operators::InletSource<T>{state},
                                                described_inlet(std::move(options)))};
    }
    /// The same with a journal: each record is written to its folder before it is handled, so that
    /// a run with snapshots goes on behind a kill. `Inlet::accepted()` is how many records are
    /// safe; a producer that starts again pushes those behind them. push() is true when a record
    /// waits to be written. Records have a codec (strid/state/codec.hpp) and a default constructor.
    /// The inlet has a thread of its own. Throws GraphError without a folder; start() throws
    /// OperatorError where the run takes no snapshots, or the folder is damaged or in use.
    template <class T>
    [[nodiscard]] auto journalled_inlet(JournalOptions journal, OperatorOptions options = {},
                                        std::size_t capacity_records = 1024) {
        if constexpr (operators::takes_journal<T>()) {
            detail::check_inlet_journal(journal);
            auto state = std::make_shared<operators::InletState<T>>(capacity_records);
            return std::pair{Inlet<T>{state},
                             begin(operators::JournalledInletSource<T>{state, std::move(journal)},
                                   described_inlet(std::move(options)))};
        }
    }

    /// As it was given.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Describes as text how a run with these options would be laid out: the operators, their
    /// parallelism, what is fused, how records are routed, and the tasks. Throws GraphError where
    /// the graph cannot be run.
    [[nodiscard]] std::string explain(const RunOptions& options = {}) const;
    /// The derivation of the block term of that layout by the rules of paper 2, sections 3 and 4.
    /// Throws as explain().
    [[nodiscard]] std::string explain_algebra(const RunOptions& options = {}) const;
    /// The same layout as data, to be drawn (strid/stream/drawing.hpp).
    [[nodiscard]] GraphDescription description(const RunOptions& options = {}) const;

    /// The files that its sources and sinks declare to read and write.
    [[nodiscard]] std::vector<FileUse> files() const;

    /// The segments declared so far; for the planner and for tests.
    [[nodiscard]] const graph::Segments& segments() const noexcept { return *segments_; }

  private:
    [[nodiscard]] graph::OperatorInfo described(const OperatorOptions& options) const {
        return graph::Handle{.segments = segments_.get()}.describe(options, "source");
    }
    [[nodiscard]] graph::OperatorInfo described_inlet(OperatorOptions options) const {
        const bool is_named = !options.name.empty();
        if (!is_named) {
            options.name = "inlet-" + std::to_string(segments_->described.size() + 1);
        }
        if (options.parallelism == 0) options.parallelism = 1;
        graph::OperatorInfo info = described(options);
        info.is_named = is_named;
        info.one_replica = true;
        return info;
    }
    template <class S>
    [[nodiscard]] auto begin(S source, graph::OperatorInfo info) {
        using Head = operators::SourceHead<S>;
        graph::check_stops(info);
        graph::Handle handle{.segments = segments_.get()};
        info.files = operators::files_of(source);
        handle.add(std::move(info));
        return Stream<typename S::record_type, graph::Chain<Head>>{std::move(handle),
                                                                   {Head{std::move(source)}, {}}};
    }

    std::string name_;
    std::unique_ptr<graph::Segments> segments_ = std::make_unique<graph::Segments>();
};

/// A run in progress. Its destructor cancels what still runs and waits for the threads. A run that
/// fails ends its inlets and outlets even if no thread waits for the run (RunOptions::on_end is
/// called).
class Running {
  public:
    /// The run goes on; `other` has no run any more.
    Running(Running&&) noexcept;
    Running& operator=(Running&&) noexcept;
    ~Running();

    /// Waits until every record is processed, or the run was stopped and drained. Throws the error
    /// that ended the run early: OperatorError from user code or a connector, Error otherwise.
    RunReport wait();
    /// Waits for at most `time`. Returns true if the run is over; wait() then returns at once.
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds time);
    /// Stops the sources and lets the graph drain. Inlets take no more records, and the records
    /// that they took are delivered. An outlet whose records are not popped delays the end. A run
    /// with snapshots takes a last one instead, and ends there (SnapshotOptions::drain).
    void stop() noexcept;
    /// Takes a snapshot now (RunOptions::snapshots), and waits until it is stored. False if the run
    /// has ended before. Throws GraphError for a run without snapshots, and InputOutputError.
    bool snapshot();
    /// Ends the run at once: records in flight are dropped. Waiting pushes and pops return.
    void cancel() noexcept;
    /// True if the run is over; wait() then returns at once.
    [[nodiscard]] bool finished() const noexcept;
    /// The figures so far. Each is exact at some recent moment.
    [[nodiscard]] RunReport report() const;
    /// The last lines that its sources could not read and went on behind (OnMalformed), oldest
    /// first; at most RefusedLines::lines_max.
    [[nodiscard]] std::vector<RefusedLine> refused_lines() const;

  private:
    friend Running start(const Graph& graph, const RunOptions& options);
    class State;
    explicit Running(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Starts a run: plans it, makes the replicas, opens sources and sinks (which may throw
/// OperatorError), and returns while it runs. The graph may be destroyed before the run is over.
[[nodiscard]] Running start(const Graph& graph, const RunOptions& options = {});

/// Runs a graph to its end.
RunReport run(const Graph& graph, const RunOptions& options = {});

}  // namespace strid
