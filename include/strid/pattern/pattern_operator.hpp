// SPDX-License-Identifier: Apache-2.0
//
// A pattern as an operator of a graph: records are its tasks, and its results are the output
// stream.
//
//     std::move(frames).apply(pattern_operator(farm(filtered)), {.name = "filter"})
//
// The nodes of the pattern are tasks of the run, beside that of the operator, on the same workers.
// The operator itself stands at both ends of the pattern's lanes: it is the producer of the first
// and the consumer of the last. So a record is moved once into a lane, and neither a lock nor a
// further thread is between the graph and the pattern (design note 0018).
//
// Bounds: no record is begun while one waits for room in the first lanes, and results leave while
// the operator's output has room. So what is in the pattern are its lanes, what its nodes hold (one
// task's results each), and in loops what the program sends back.
//
// Order and time: those of the pattern. One that makes one result of each task in order
// (engine/pattern/one_for_one.hpp) holds a watermark back until the results of all tasks before it
// have left, and a late record is late behind it. Behind any other the stream has no time:
// event_time() may draw it anew.
//
// Threads: only the task of the operator's node. Replicas have patterns of their own.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <strid/engine/base/text_fields.hpp>
#include <strid/engine/operator/contract_checks.hpp>
#include <strid/engine/pattern/builder.hpp>
#include <strid/engine/pattern/network.hpp>
#include <strid/engine/pattern/one_for_one.hpp>
#include <strid/operator/contract.hpp>

namespace strid::pattern {

/// The defaults are meant to be left alone.
struct PatternOperatorOptions {
    /// Tasks that may wait between two nodes; 0: what fills 32 KiB, 16 to 2,048 of them, and in a
    /// perturbed run as few as can be.
    std::size_t lane_tasks = 0;
    /// For a farm without a given number of workers; 0: as many as the run has threads.
    std::size_t workers = 0;
};

namespace detail {

/// Watermarks that wait until the results of all tasks before them have left.
class HeldWatermarks {
  public:
    /// How far the input has come.
    [[nodiscard]] EventTime time() const noexcept { return last_.watermark; }
    /// The input came so far when so many tasks had gone in.
    void heard(const Watermark& watermark, std::uint64_t tasks) {
        const Progress progress{watermark.time, watermark.idle};
        if (progress == last_) return;
        last_ = progress;
        if (waiting_.empty() || waiting_.back().tasks != tasks) waiting_.push_back({tasks, {}});
        waiting_.back().progress = progress;
    }
    /// The task that goes in after so many is late: its result has to find this watermark passed.
    void late(std::uint64_t tasks) { late_.push_back(tasks); }
    /// Whether the result that leaves after so many is of a late task. Once for each of them.
    [[nodiscard]] bool is_late(std::uint64_t results) {
        if (late_.empty() || late_.front() != results) [[likely]]
            return false;
        late_.pop_front();
        return true;
    }
    /// How far the results have come, of which there were so many.
    [[nodiscard]] Progress passed(std::uint64_t results) {
        for (; !waiting_.empty() && waiting_.front().tasks <= results; waiting_.pop_front()) {
            passed_ = waiting_.front().progress;
        }
        return passed_;
    }

  private:
    struct Waiting {
        std::uint64_t tasks;
        Progress progress;
    };

    std::deque<Waiting> waiting_;  // no two with the same number of tasks
    std::deque<std::uint64_t> late_;
    Progress last_;
    Progress passed_;
};

template <class Pattern>
inline constexpr std::string_view kind_of_pattern = "pattern";
template <class Body>
inline constexpr std::string_view kind_of_pattern<Iterate<Body>> = "iterate";

/// `In` are the records as they arrive: tasks `T`, or behind key_by with the hash of their key.
/// `TimeOf` gives their time, unless it is NoTime.
template <class In, TaskType T, class U, class TimeOf, class Pattern>
class PatternOperator
    : public OperatorTypes<In, std::conditional_t<std::same_as<U, Nothing>, void, U>> {
    static constexpr bool makes = !std::same_as<U, Nothing>;
    static constexpr bool keeps_time = is_one_for_one<T, Pattern>;

  public:
    static constexpr OperatorTraits traits{.kind = kind_of_pattern<Pattern>,
                                           .emits = makes ? Emits::any_number : Emits::nothing,
                                           .hears = events<TasksWanted, Opened, Watermark, Ended>,
                                           .has = Has::facts | Has::passed | Has::held_back,
                                           .forgets_input = true};

    PatternOperator(Pattern pattern, TimeOf time_of, const PatternOperatorOptions& options)
        : pattern_(std::move(pattern)), time_of_(std::move(time_of)), options_(options) {
        check_owns_text<T>();
        check_owns_text<U>();
    }

    [[nodiscard]] OperatorFacts facts() const {
        return {.parallel_by_default = false,
                .ends_time = !keeps_time,
                .notes = {keeps_time || !makes ? "its nodes are tasks of the run"
                                               : "its nodes are tasks of the run, and the stream "
                                                 "behind has no time of its own"}};
    }

    void on(const TasksWanted& wanted) {
        Options options;
        options.execution.workers = options_.workers != 0 ? options_.workers : wanted.workers;
        options.lane_tasks = options_.lane_tasks;
        if (wanted.perturbed && options.lane_tasks == 0) options.lane_tasks = 1;
        inside_ = std::make_shared<Inside>(wanted.task, options);
        Network& network = inside_->network;
        std::string owner(wanted.context.name);
        if (wanted.context.parallelism > 1) owner += '#' + std::to_string(wanted.context.replica);
        network.set_owner(owner);
        const auto behind = build(network, Ends<T>{{{&inside_->entrance, &wanted.task}}}, pattern_);
        if constexpr (makes) {
            network.connect(behind, inside_->exit, wanted.task, inside_->result_ns);
        }
        for (runtime::Task* task : network.tasks()) wanted.tasks.push_back(task);
    }
    void on(const Opened&) { inside_->network.open(); }

    void process(In& record, auto& emit) {
        Inside& inside = *inside_;
        if constexpr (keeps_time && !std::same_as<TimeOf, NoTime>) {
            if (time_of_(std::as_const(task_of(record))) < inside.watermarks.time()) [[unlikely]]
                inside.watermarks.late(inside.tasks_in);
        }
        ++inside.tasks_in;
        inside.entrance.emit(std::move(task_of(record)));
        if (!inside.entrance.ready()) {
            // Results that wait for room may be what the first nodes wait for.
            (void)take_results(emit);
            (void)inside.entrance.settle();
        } else if (inside.tasks_in % tasks_together == 0) {
            inside.entrance.announce();
        }
    }
    /// A run has come to its end: the nodes learn of their tasks, and what they have made leaves.
    bool on(Watermark watermark, auto& emit) {
        Inside& inside = *inside_;
        if constexpr (keeps_time) inside.watermarks.heard(watermark, inside.tasks_in);
        const bool all_out = take_results(emit);
        (void)hand_on();
        if constexpr (keeps_time) inside.passed = inside.watermarks.passed(inside.results);
        return all_out;
    }
    [[nodiscard]] Progress passed() const noexcept { return inside_->passed; }
    [[nodiscard]] bool held_back() const noexcept { return !inside_->entrance.ready(); }
    /// Of the tasks inside none is named: they are in lanes between nodes.
    auto state() { return std::tie(); }

    bool on(Ended, auto& emit) {
        Inside& inside = *inside_;
        const bool all_out = take_results(emit);
        if (!inside.closed && hand_on()) {
            inside.closed = true;
            inside.entrance.close();
            inside.entrance.announce();
        }
        if constexpr (makes) return inside.closed && all_out && inside.exit.ended();
        return inside.closed;
    }

  private:
    static constexpr std::size_t tasks_together = 16;     // that are announced
    static constexpr std::size_t results_per_call = 512;  // before others have the worker

    /// The pattern of one replica.
    struct Inside {
        Inside(runtime::Task& own, const Options& options) : network(options), task(own) {}

        Network network;
        Output<T> entrance;
        Input<std::conditional_t<makes, U, int>> exit;
        std::atomic<std::int64_t> result_ns{0};  // for the schedulers of the last nodes
        runtime::Task& task;                     // the operator's
        std::uint64_t tasks_in = 0;
        std::uint64_t results = 0;
        HeldWatermarks watermarks;
        Progress passed;
        bool closed = false;
    };

    static T& task_of(In& record) noexcept {
        if constexpr (std::same_as<In, T>) {
            return record;
        } else {
            return record.record;
        }
    }

    /// Gives the first nodes what waits for room. True when nothing is left; else they wake the
    /// operator's task when there is some.
    [[nodiscard]] bool hand_on() {
        Output<T>& entrance = inside_->entrance;
        if (!entrance.settle()) return !entrance.must_wait();
        entrance.announce();
        return true;
    }

    /// Emits the results of the pattern while the output has room. Returns false if it has none and
    /// results are left.
    [[nodiscard]] bool take_results([[maybe_unused]] auto& emit) {
        if constexpr (makes) {
            Inside& inside = *inside_;
            for (std::size_t taken = 0; emit.room();) {
                const std::span<U> results = inside.exit.peek(results_per_call - taken);
                if (results.empty()) {
                    inside.exit.rest();
                    return true;
                }
                std::size_t count = 0;
                do {
                    if constexpr (keeps_time) {
                        const std::uint64_t number = inside.results + count;
                        if (inside.watermarks.is_late(number)) {
                            emit.assert_progress(inside.watermarks.passed(number));
                        }
                    }
                    emit(results[count]);
                    // A result that was not moved from must not stay in the lane.
                    if constexpr (!std::is_trivially_copyable_v<U>) results[count] = U{};
                    ++count;
                } while (count != results.size() && emit.room());
                inside.exit.release(count);
                inside.results += count;
                taken += count;
                if (taken == results_per_call) {
                    inside.task.notify();
                    return true;
                }
            }
            return !inside.exit.waiting();
        }
        return true;
    }

    Pattern pattern_;
    [[no_unique_address]] TimeOf time_of_;
    PatternOperatorOptions options_;
    std::shared_ptr<Inside> inside_;  // null before the run
};

template <class T>
consteval bool is_task() {
    static_assert(TaskType<T>,
                  "the tasks of a pattern can be made of nothing, moved and destroyed without "
                  "throwing: a record that cannot is held by a std::unique_ptr");
    return TaskType<T>;
}

}  // namespace detail

/// For `stream.apply(...)`: the pattern as the next operator, whose tasks are the records, which
/// must own their text. One that ends with a node that makes nothing is a sink. Behind `key_by` all
/// records of a key go to one replica. It has one replica unless the options of `apply` ask for
/// more. An exception of a node ends the run, with an OperatorError of "operator: node"; a pattern
/// that cannot be does not compile.
template <class Pattern>
[[nodiscard]] auto pattern_operator(Pattern pattern, const PatternOperatorOptions& options = {}) {
    return [pattern = std::move(pattern), options]<class Arriving>(const Arriving& arriving) {
        using T = typename Arriving::record;
        if constexpr (!detail::is_task<T>()) {
            return operators::Refused{};
        } else {
            using U = typename detail::TaskOf<detail::Behind<T, Pattern>>::type;
            if constexpr (std::same_as<U, detail::RefusedTasks>) {
                return operators::Refused{};
            } else {
                using TimeOf = std::remove_cvref_t<decltype(arriving.time_of)>;
                using Operator =
                    detail::PatternOperator<typename Arriving::arrived, T, U, TimeOf, Pattern>;
                return Operator{pattern, arriving.time_of, options};
            }
        }
    };
}

}  // namespace strid::pattern
