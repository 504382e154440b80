// SPDX-License-Identifier: Apache-2.0
//
// A node that works on tasks by an operator (pattern/node_work.hpp).
//
// Threads: only the thread that steps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/pattern/emission.hpp>
#include <strid/engine/pattern/node_type.hpp>
#include <strid/engine/pattern/pattern_task.hpp>
#include <strid/operator/contract.hpp>
#include <strid/pattern/resource.hpp>

namespace strid::pattern {

/// A node that works on tasks of `T` by an operator. `Again` is what its loop's entry takes.
template <TaskType T, class Operator, class Again>
class OperatorNode final : public PatternNode {
  public:
    using Made = detail::Made<typename Operator::Emitted>;

    OperatorNode(std::string name, std::size_t replica, std::size_t parallelism,
                 std::vector<Loop*> loops, Operator one)
        : PatternNode(std::move(name), replica, parallelism, std::move(loops)),
          operator_(std::move(one)) {}
    ~OperatorNode() override { forget_resource(); }
    OperatorNode(const OperatorNode&) = delete;
    OperatorNode& operator=(const OperatorNode&) = delete;

    [[nodiscard]] Input<T>& input() noexcept { return input_; }
    [[nodiscard]] Output<Made>& output() noexcept { return output_; }
    /// It is one of the last of the innermost loop: what it emits leaves, and `again` leads back.
    void end_loop(BackLane<Again>& back, runtime::Task& entry) {
        ends_loop_ = true;
        emission_.set_back(back, entry);
    }

    void open() override {
        if constexpr (operators::Hears<Operator, Opened>) {
            operators::guarded(name(), [&] { operator_.on(Opened{context(), *this}); });
        }
    }

    runtime::StepResult step(std::int64_t& clock_ns) override {
        if constexpr (detail::UsesResource<Operator>) {
            if (!operator_.resource().try_take(*this)) return runtime::StepResult::waiting;
            const Use use{operator_.resource()};
            return take_step(clock_ns);
        } else {
            return take_step(clock_ns);
        }
    }
    [[nodiscard]] bool has_work() const noexcept override { return input_.waiting(); }
    [[nodiscard]] static NodeType type() { return detail::type_of_operator<Operator>(); }
    /// It may wait for a resource that another pattern has.
    [[nodiscard]] bool awaits_outside() const noexcept override {
        return detail::UsesResource<Operator>;
    }
    void interrupt() noexcept override { forget_resource(); }

  private:
    template <bool in_loop>
    using Emitting = detail::NodeEmit<Made, Again, in_loop>;
    struct Use {
        Resource& resource;

        ~Use() { resource.give_back(); }
    };

    void forget_resource() noexcept {
        if constexpr (detail::UsesResource<Operator>) operator_.resource().forget(*this);
    }

    /// Each task hands its credits on to the one that is made of it: what one makes need not be
    /// known before it is handed on.
    [[nodiscard]] bool keeps_credits() const noexcept {
        return loops().empty() || (Operator::traits.emits == Emits::one && !ends_loop_);
    }

    runtime::StepResult take_step(std::int64_t& clock_ns) {
        bool idle = false;  // the last look at the input found nothing
        if (settle(output_)) {
            const std::size_t done = keeps_credits() ? work<false>() : work<true>();
            idle = done < budget() && output_.ready();
            output_.commit();  // a thread that looks for results need not wait for the clock
            account(done, clock_ns);
            emission_.announce();
            if (idle && input_.ended() && end()) {
                return finish(output_);
            }
        }
        return leave_step(output_, !idle || (input_.ended() && !ended_), [this] { input_.rest(); });
    }
    template <bool in_loop>
    std::size_t work() {
        Emitting<in_loop> emit{output_, emission_};
        std::size_t done = 0;
        operators::guarded(name(), [&] {
            while (done < budget() && output_.ready()) {
                const std::span<T> tasks = input_.peek(budget() - done);
                if (tasks.empty()) break;
                std::size_t taken = 0;
                while (taken < tasks.size() && output_.ready()) {
                    operator_.process(tasks[taken], emit);
                    if constexpr (in_loop) pass_credits(1);
                    // A task that was not moved from must not stay in the ring.
                    if constexpr (!std::is_trivially_copyable_v<T>) tasks[taken] = T{};
                    ++taken;
                }
                input_.release(taken);
                done += taken;
            }
        });
        if (emit.count() != 0) count_out(emit.count());
        return done;
    }

    /// Sends the results of one task. `held` is the number of credits that it held in each loop.
    void pass_credits(std::int64_t held) {
        const auto made = static_cast<std::int64_t>(emission_.made.size());
        const auto again = static_cast<std::int64_t>(emission_.again.size());
        const std::size_t kept = loops().size() - (ends_loop_ ? 1 : 0);
        if (ends_loop_ && (made != 0 || again == 0)) count_left();
        for (std::size_t i = 0; i < loops().size(); ++i) {
            const std::int64_t more = (i < kept ? made : 0) + again - held;
            if (more > 0) loops()[i]->take(more);
        }
        for (Made& task : emission_.made) output_.emit(std::move(task));
        emission_.made.clear();
        emission_.send_back();
        for (std::size_t i = 0; i < loops().size(); ++i) {
            const std::int64_t fewer = held - (i < kept ? made : 0) - again;
            if (fewer > 0) loops()[i]->give_back(fewer);
        }
    }

    /// The input has ended. True when all is out.
    bool end() {
        if (ended_) return output_.ready();
        if constexpr (operators::Hears<Operator, Ended>) {
            const bool done = loops().empty() ? end_of_input<false>() : end_of_input<true>();
            if (!done) return false;
        }
        if constexpr (operators::Hears<Operator, Closed>) {
            operators::guarded(name(), [&] { operator_.on(Closed{}); });
        }
        ended_ = true;
        return output_.ready();
    }
    template <bool in_loop>
    bool end_of_input() {
        Emitting<in_loop> emit{output_, emission_};
        const bool done = operators::guarded(name(), [&] {
            if constexpr (std::is_void_v<decltype(operator_.on(Ended{}, emit))>) {
                operator_.on(Ended{}, emit);
                return true;
            } else {
                return operator_.on(Ended{}, emit);
            }
        });
        if constexpr (in_loop) {
            if (!emission_.again.empty()) {
                operators::guarded(name(), [] { detail::throw_no_loop(); });
            }
            pass_credits(0);
        }
        if (emit.count() != 0) count_out(emit.count());
        return done;
    }

    Input<T> input_;
    Output<Made> output_;
    Emission<Made, Again> emission_;
    Operator operator_;
    bool ends_loop_ = false;
    bool ended_ = false;
};

}  // namespace strid::pattern
