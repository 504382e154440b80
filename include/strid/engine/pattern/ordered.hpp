// SPDX-License-Identifier: Apache-2.0
//
// The order of an ordered farm: results leave in the order in which their tasks came, with any
// worker and however long it took (paper 4, section 1.2.1.2; an ordered farm). The node
// that hands out the tasks writes down which worker got the next ones; the node that gathers the
// results reads that and takes from this worker's lane the results of so many tasks.
//
// A worker that makes exactly one result of each task needs no mark. One that may make none or
// several marks the last of each task.
//
// Threads: as every node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/state_size.hpp>
#include <strid/engine/pattern/emission.hpp>
#include <strid/engine/pattern/name_of_tasks.hpp>
#include <strid/engine/pattern/pattern_task.hpp>
#include <strid/engine/pattern/ports.hpp>
#include <strid/operator/contract.hpp>

namespace strid::pattern::detail {

/// A result, or none, and whether it is the last of its task.
template <class U>
struct Marked {
    std::optional<U> result;
    bool last = false;
};

/// The results of an operator, with marks.
template <class Operator>
class Marking
    : public OperatorTypes<typename Operator::Arrived, Marked<typename Operator::Emitted>> {
  public:
    using U = typename Operator::Emitted;
    static constexpr OperatorTraits traits{
        .kind = Operator::traits.kind,
        .emits = Emits::any_number,
        .hears = Operator::traits.hears.template among<Opened, Ended, Closed>(),
        .has = has_if(operators::has<Operator, Has::resource>, Has::resource)};

    explicit Marking(Operator one) : operator_(std::move(one)) {}

    void on(const Opened& opened)
        requires operators::Hears<Operator, Opened>
    {
        operator_.on(opened);
    }
    void process(typename Operator::Arrived& task, auto& emit) {
        Later later{emit, std::nullopt};
        operator_.process(task, later);
        emit(Marked<U>{std::move(later.held), true});
    }
    auto on(Ended ended, auto& emit)
        requires operators::Hears<Operator, Ended>
    {
        Unmarked unmarked{emit};
        return operator_.on(ended, unmarked);
    }
    void on(Closed closed)
        requires operators::Hears<Operator, Closed>
    {
        operator_.on(closed);
    }
    [[nodiscard]] auto& resource()
        requires operators::has<Operator, Has::resource>
    {
        return operator_.resource();
    }
    auto state() { return operators::state_of(operator_); }

  private:
    /// Holds a result until it is known whether it is the last.
    template <class Emit>
    struct Later {
        Emit& emit;
        std::optional<U> held;

        void operator()(U made) {
            if (held) emit(Marked<U>{std::move(held), false});
            held.emplace(std::move(made));
        }
        [[nodiscard]] bool room() const noexcept { return emit.room(); }
    };
    template <class Emit>
    Later(Emit&, std::nullopt_t) -> Later<Emit>;
    template <class Emit>
    struct Unmarked {
        Emit& emit;

        void operator()(U made) { emit(Marked<U>{std::optional<U>(std::move(made)), false}); }
        [[nodiscard]] bool room() const noexcept { return emit.room(); }
    };
    template <class Emit>
    Unmarked(Emit&) -> Unmarked<Emit>;

    [[no_unique_address]] Operator operator_;
};

/// Gathers the results of the workers, `Item` each, in the order of the tasks.
template <TaskType U, TaskType Item>
class OrderedCollector final : public PatternNode {
  public:
    OrderedCollector(std::string name, std::vector<Loop*> loops)
        : PatternNode(std::move(name), 0, 1, std::move(loops)) {}

    [[nodiscard]] Input<Run>& order() noexcept { return order_; }
    /// Of the next worker.
    [[nodiscard]] Input<Item>& add_worker() {
        workers_.push_back(std::make_unique<Input<Item>>());
        return *workers_.back();
    }
    [[nodiscard]] Output<U>& output() noexcept { return output_; }

    runtime::StepResult step(std::int64_t& clock_ns) override {
        std::size_t done = 0;
        if (settle(output_)) {
            while (done < budget() && output_.ready()) {
                const std::size_t more = take(budget() - done);
                if (more == 0) break;
                done += more;
            }
            account(done, clock_ns);
            if (done == 0 && next_after_all_ == workers_.size()) {
                return finish(output_);
            }
        }
        return leave_step(output_, done != 0, [this] {
            order_.rest();
            for (auto& worker : workers_) worker->rest();
        });
    }
    [[nodiscard]] bool has_work() const noexcept override { return order_.waiting(); }

    [[nodiscard]] static NodeType type() {
        return {.kind = "collector", .takes = name_of_tasks<U>(), .makes = name_of_tasks<U>()};
    }

  private:
    /// Takes items of the task whose turn it is; how many.
    std::size_t take(std::size_t count) {
        if (run_.tasks == 0) {
            const std::span<Run> next = order_.peek(1);
            if (!next.empty()) {
                run_ = next.front();
                order_.release(1);
            } else if (order_.ended()) {
                return take_after_end(count);
            } else {
                return 0;
            }
        }
        Input<Item>& worker = *workers_[run_.worker];
        const std::span<Item> items = worker.peek(count);
        std::size_t taken = 0;
        while (taken < items.size() && run_.tasks != 0 && output_.ready()) {
            if (pass_on(items[taken++])) --run_.tasks;
        }
        if (taken != 0) worker.release(taken);
        return taken;
    }
    /// Takes the results that the workers emitted at the end of their input, one worker after the
    /// other.
    std::size_t take_after_end(std::size_t count) {
        for (; next_after_all_ != workers_.size(); ++next_after_all_) {
            Input<Item>& worker = *workers_[next_after_all_];
            const std::span<Item> items = worker.peek(count);
            std::size_t taken = 0;
            while (taken < items.size() && output_.ready()) (void)pass_on(items[taken++]);
            if (taken != 0) worker.release(taken);
            if (taken != 0 || !worker.ended()) return taken;
        }
        return 0;
    }
    /// True for the last of a task.
    bool pass_on(Item& item) {
        if constexpr (std::same_as<Item, U>) {
            output_.emit(std::move(item));
            count_out(1);
            return true;
        } else {
            if (item.result) {
                output_.emit(std::move(*item.result));
                count_out(1);
            } else {
                for (Loop* loop : loops()) loop->give_back(1);
            }
            item.result.reset();
            return item.last;
        }
    }

    Input<Run> order_;
    std::vector<std::unique_ptr<Input<Item>>> workers_;
    Output<U> output_;
    Run run_{};
    std::size_t next_after_all_ = 0;
};

}  // namespace strid::pattern::detail
