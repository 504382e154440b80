// SPDX-License-Identifier: Apache-2.0
//
// A graph as a node of a pattern (stream/graph_node.hpp).
//
// The graph runs beside the pattern, with threads of its own: one, unless the options of its run
// say otherwise. Between the two are lanes (engine/pattern/lane.hpp) in both directions, whose ends
// are this node in the pattern, and in the graph a source and a sink. Neither side ever waits
// inside a step: a full lane is looked at again when its consumer has made room, which wakes the
// producer's task. So the node takes results while the graph has no room for tasks, and offers
// tasks while the pattern has none for results (design note 0018).
//
// The graph ends when the node's input has ended; the node ends when the graph has. An exception
// thrown in the graph ends the pattern, with an OperatorError that names the node and the operator.
// A pattern that ends early cancels the graph.
//
// Threads: the node as every node; source and sink as those of every graph.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/pattern/composition_checks.hpp>
#include <strid/engine/pattern/network.hpp>
#include <strid/engine/pattern/pattern_task.hpp>
#include <strid/engine/pattern/ports.hpp>
#include <strid/operator/source.hpp>
#include <strid/stream/graph.hpp>

namespace strid::graph {

/// The lanes that bring tasks into a graph and results out of it. The node owns it, and the two
/// ends of the graph share it.
template <class T, class U>
struct Lanes {
    explicit Lanes(runtime::Task& own, std::size_t lane_tasks)
        : node(own), task_lane(lane_tasks), result_lane(lane_tasks) {
        to_graph.add(task_lane, task_ns);
        tasks.add(task_lane);
        from_tasks.add(result_lane, task_ns);
        results.add(result_lane);
    }

    runtime::Task& node;
    std::atomic<std::int64_t> task_ns{0};  // for schedulers, of which a lane alone has none
    pattern::Lane<T> task_lane;
    pattern::Lane<U> result_lane;
    pattern::Output<T> to_graph;    // the node's
    pattern::Input<T> tasks;        // the source's
    pattern::Output<U> from_tasks;  // the sink's
    pattern::Input<U> results;      // the node's
};

/// The source of a graph that takes tasks of a pattern.
template <class T, class U>
class TaskSource {
  public:
    using record_type = T;
    static constexpr SourceTraits traits{
        .hears = events<Opened>, .awaits_outside = true, .no_snapshots = true, .stateless = true};

    explicit TaskSource(std::shared_ptr<Lanes<T, U>> lanes) : lanes_(std::move(lanes)) {}

    void on(const Opened& opened) {
        lanes_->task_lane.connect(lanes_->node, lanes_->to_graph.room_wait(), opened.task);
    }

    SourceStatus poll(auto& emit, std::size_t budget) {
        pattern::Input<T>& tasks = lanes_->tasks;
        while (budget != 0) {
            const std::span<T> some = tasks.peek(budget);
            if (some.empty()) {
                tasks.rest();
                return tasks.ended() ? SourceStatus::finished : SourceStatus::idle;
            }
            std::size_t taken = 0;
            bool room = true;
            while (room && taken != some.size()) room = emit(std::move(some[taken++]));
            tasks.release(taken);
            budget -= taken;
            if (!room) break;
        }
        return SourceStatus::more;
    }

  private:
    std::shared_ptr<Lanes<T, U>> lanes_;
};

/// The sink of a graph whose records become tasks of a pattern.
template <class T, class U>
class ResultSink {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, Closed>,
                                           .has = Has::accepts,
                                           .one_replica = true,
                                           .stateless = true};

    explicit ResultSink(std::shared_ptr<Lanes<T, U>> lanes) : lanes_(std::move(lanes)) {}

    void on(const Opened& opened) {
        lanes_->result_lane.connect(opened.task, lanes_->from_tasks.room_wait(), lanes_->node);
    }
    /// Results of one record that found no room in the lane are sent first.
    [[nodiscard]] bool accepts() {
        pattern::Output<U>& out = lanes_->from_tasks;
        return out.ready() || out.settle() || !out.must_wait();
    }
    void operator()(U&& record) {
        lanes_->from_tasks.emit(std::move(record));
        if (++count_ % records_together == 0) lanes_->from_tasks.announce();
    }
    void on(Flush) noexcept { lanes_->from_tasks.announce(); }
    void on(Closed) {
        lanes_->from_tasks.close();
        lanes_->from_tasks.announce();
    }

  private:
    static constexpr std::size_t records_together = 16;  // that are announced

    std::shared_ptr<Lanes<T, U>> lanes_;
    std::size_t count_ = 0;
};

/// The node.
template <class T, class U, class Build>
class GraphNode final : public pattern::PatternNode {
  public:
    GraphNode(std::string name, std::size_t replica, std::size_t parallelism, Build build,
              GraphNodeOptions options)
        : PatternNode(std::move(name), replica, parallelism, {}),
          build_(std::move(build)),
          options_(std::move(options)) {}

    [[nodiscard]] pattern::Input<T>& input() noexcept { return input_; }
    [[nodiscard]] pattern::Output<U>& output() noexcept { return output_; }

    void open() override {
        operators::guarded(name(), [this] { start_graph(); });
    }

    runtime::StepResult step(std::int64_t& clock_ns) override {
        if (is_over() && !is_done_) end_graph();
        std::size_t done = settle(output_) ? take_results() : 0;
        done += hand_tasks();
        account(done, clock_ns);
        if (is_done_ && lanes_->results.ended() && output_.ready()) return finish(output_);
        lanes_->to_graph.announce();
        output_.announce();
        return done != 0 ? runtime::StepResult::progressed : rest();
    }
    [[nodiscard]] bool has_work() const noexcept override { return input_.waiting(); }
    [[nodiscard]] bool awaits_outside() const noexcept override { return true; }
    void interrupt() noexcept override {
        if (running_) running_->cancel();
    }

  private:
    void start_graph() {
        Graph graph{name()};
        lanes_ = std::make_shared<Lanes<T, U>>(*this, options_.lane_tasks);
        auto tasks = graph.source(TaskSource<T, U>{lanes_}, {.name = "tasks", .parallelism = 1});
        const OperatorOptions results{.name = "results"};
        if constexpr (std::invocable<Build&, Graph&, decltype(tasks)>) {
            std::invoke(build_, graph, std::move(tasks)).sink(ResultSink<T, U>{lanes_}, results);
        } else {
            std::invoke(build_, std::move(tasks)).sink(ResultSink<T, U>{lanes_}, results);
        }
        RunOptions options = options_.run;
        options.on_end = [this, on_end = std::move(options.on_end)](const RunEnd& end) {
            if (on_end) on_end(end);
            over_.store(true, std::memory_order_release);  // pairs with is_over()
            notify();
        };
        running_.emplace(start(graph, options));
    }
    [[nodiscard]] bool is_over() const noexcept {
        return over_.load(std::memory_order_acquire);  // pairs with the store in start_graph()
    }
    /// Its last thread is about to end.
    void end_graph() {
        is_done_ = true;
        try {
            running_->wait();
        } catch (const OperatorError& error) {
            throw OperatorError(name(), error.what(), error.cause());
        } catch (const std::exception& error) {
            throw OperatorError(name(), error.what(), std::current_exception());
        }
    }

    std::size_t take_results() {
        std::size_t done = 0;
        operators::guarded(name(), [&] {
            while (done < budget() && output_.ready()) {
                const std::span<U> results = lanes_->results.peek(budget() - done);
                if (results.empty()) break;
                std::size_t taken = 0;
                while (taken != results.size() && output_.ready()) {
                    output_.emit(std::move(results[taken++]));
                }
                lanes_->results.release(taken);
                done += taken;
            }
        });
        count_out(done);
        return done;
    }
    std::size_t hand_tasks() {
        pattern::Output<T>& to_graph = lanes_->to_graph;
        if (!to_graph.settle() || closed_) return 0;
        std::size_t done = 0;
        while (done < budget() && to_graph.ready()) {
            const std::span<T> tasks = input_.peek(budget() - done);
            if (tasks.empty()) break;
            std::size_t taken = 0;
            while (taken != tasks.size() && to_graph.ready()) {
                to_graph.emit(std::move(tasks[taken++]));
            }
            input_.release(taken);
            done += taken;
        }
        if (input_.ended() && to_graph.ready()) {
            closed_ = true;
            to_graph.close();
        }
        return done;
    }
    /// Nothing could be done. A full output wakes the node when it has room, and an empty input
    /// when a record is there.
    [[nodiscard]] runtime::StepResult rest() {
        const auto has_room_after_all = [](auto& output) {
            return !output.ready() && !output.must_wait();
        };
        const bool again = operators::guarded(name(), [&] {
            return has_room_after_all(output_) || has_room_after_all(lanes_->to_graph);
        });
        if (again) return runtime::StepResult::progressed;
        input_.rest();
        lanes_->results.rest();
        return runtime::StepResult::waiting;
    }

    Build build_;
    GraphNodeOptions options_;
    pattern::Input<T> input_;
    pattern::Output<U> output_;
    std::shared_ptr<Lanes<T, U>> lanes_;
    bool closed_ = false;   // the graph gets no more tasks
    bool is_done_ = false;  // the graph has ended well
    std::atomic<bool> over_{false};
    std::optional<Running> running_;  // first to go: its threads know the lanes
};

/// Builds the node into a pattern.
template <class T, class U, class Build>
struct GraphPattern {
    static constexpr bool builds_itself = true;

    template <class Arriving>
    [[nodiscard]] auto build(pattern::Network& network, const pattern::Ends<Arriving>& ends,
                             const std::string& name) const {
        if constexpr (!std::same_as<Arriving, T>) {
            static_assert(std::same_as<Arriving, T>,
                          "other tasks arrive here than the graph takes: graph_node<T, U>(...)");
            return pattern::Ends<pattern::detail::RefusedTasks>{};
        } else {
            return add_node(network, ends, name);
        }
    }

    pattern::Ends<U> add_node(pattern::Network& network, const pattern::Ends<T>& ends,
                              const std::string& name) const {
        if (!network.loops().empty()) {
            throw GraphError(
                "a graph cannot stand in a loop: how many records it makes of a task is not known, "
                "so that the loop would not know when it is over");
        }
        const auto [number, of] = network.replica();
        auto& node = network.add(std::make_unique<GraphNode<T, U, Build>>(
            network.name_node(name.empty() ? "graph" : name), number, of, graph, options));
        network.connect(ends, node.input(), node);
        return {{{&node.output(), &node}}};
    }

    Build graph;
    GraphNodeOptions options;
};

}  // namespace strid::graph
