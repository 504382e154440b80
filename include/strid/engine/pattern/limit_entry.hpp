// SPDX-License-Identifier: Apache-2.0
//
// The bound on the tasks in flight in a part of a pattern (composition.hpp: limited): an entry that
// admits tasks while there is room, and a FlightTag that accompanies each task and its results.
//
// Threads: a FlightTag may end on any thread, even after the run, with tasks that the pattern left.
//
// Invariant: the tags that have begun and not ended keep the limit, but for one task that is
// larger than all the bytes and alone. An entry that was refused is woken after the next tag has
// ended: both happen under the mutex.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <strid/engine/operator/faults.hpp>
#include <strid/engine/pattern/loop.hpp>
#include <strid/engine/pattern/name_of_tasks.hpp>
#include <strid/engine/pattern/pattern_task.hpp>
#include <strid/engine/pattern/ports.hpp>
#include <strid/engine/pattern/tagged.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/counter.hpp>
#include <strid/pattern/composition.hpp>

namespace strid::pattern::detail {

/// Throws GraphError for one that limits nothing.
void check_limit(const Limit& limit);

/// The tasks and bytes in flight now. Shared by the entry and the tags.
class Flight {
  public:
    Flight(const Limit& limit, runtime::Task& entry) : limit_(limit), entry_(&entry) {}

    /// False where there is no room; then the entry is woken when there is some.
    [[nodiscard]] bool try_begin(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        const bool room = tasks_ == 0 || ((limit_.tasks == 0 || tasks_ < limit_.tasks) &&
                                          (limit_.bytes == 0 || bytes_ + bytes <= limit_.bytes));
        wanted_ = wanted_ || !room;
        if (!room) return false;
        ++tasks_;
        bytes_ += bytes;
        return true;
    }
    void end(std::size_t bytes) noexcept {
        const std::lock_guard lock(mutex_);
        --tasks_;
        bytes_ -= bytes;
        if (std::exchange(wanted_, false) && entry_ != nullptr) entry_->notify();
    }
    /// The entry goes before what the pattern left behind.
    void forget_entry() noexcept {
        const std::lock_guard lock(mutex_);
        entry_ = nullptr;
    }

  private:
    const Limit limit_;
    std::mutex mutex_;
    runtime::Task* entry_;  // guarded, as are those below
    std::size_t tasks_ = 0;
    std::size_t bytes_ = 0;
    bool wanted_ = false;
};

/// The tag of a task in flight: it ends when the last copy goes.
class FlightTag {
  public:
    static constexpr bool takes_failures = false;

    FlightTag() = default;
    FlightTag(std::shared_ptr<Flight> flight, std::size_t bytes)
        : until_(std::make_shared<const Until>(std::move(flight), bytes)) {}

    template <class Action>
    void guarded(const Action& action) {
        action();
    }
    [[nodiscard]] FlightTag share() const { return *this; }
    void finish() noexcept {}

  private:
    class Until {
      public:
        Until(std::shared_ptr<Flight> flight, std::size_t bytes)
            : flight_(std::move(flight)), bytes_(bytes) {}
        Until(const Until&) = delete;
        Until& operator=(const Until&) = delete;
        ~Until() { flight_->end(bytes_); }

      private:
        std::shared_ptr<Flight> flight_;
        std::size_t bytes_;
    };

    std::shared_ptr<const Until> until_;
};

/// Where tasks enter the part that is limited.
template <TaskType T, class BytesOf>
class LimitEntry final : public PatternNode {
  public:
    LimitEntry(std::string name, std::vector<Loop*> loops, const Limit& limit, BytesOf bytes_of)
        : PatternNode(std::move(name), 0, 1, std::move(loops)),
          limit_(limit),
          bytes_of_(std::move(bytes_of)),
          flight_(std::make_shared<Flight>(limit, *this)) {}
    ~LimitEntry() override { flight_->forget_entry(); }
    LimitEntry(const LimitEntry&) = delete;
    LimitEntry& operator=(const LimitEntry&) = delete;

    [[nodiscard]] Input<T>& input() noexcept { return input_; }
    [[nodiscard]] Output<Tagged<T, FlightTag>>& output() noexcept { return output_; }

    void open() override { dropped_ = context().counter("dropped"); }

    runtime::StepResult step(std::int64_t& clock_ns) override {
        std::size_t done = 0;
        if (settle(output_)) {
            operators::guarded(name(), [&] {
                while (done < budget() && output_.ready() && take_one()) ++done;
            });
            account(done, clock_ns);
            if (done == 0 && input_.ended() && waiting_.empty()) return finish(output_);
        }
        return leave_step(output_, done != 0, [this] { input_.rest(); });
    }
    [[nodiscard]] bool has_work() const noexcept override { return input_.waiting(); }
    [[nodiscard]] static NodeType type() {
        return {.kind = "limit", .takes = name_of_tasks<T>(), .makes = name_of_tasks<T>()};
    }

  private:
    /// Lets one in, or moves one to those that wait. False where neither can be.
    bool take_one() {
        if (!waiting_.empty() && let_in(waiting_.front())) {
            waiting_.pop_front();
            return true;
        }
        const std::span<T> tasks = input_.peek(1);
        if (tasks.empty()) return false;
        if (waiting_.empty() && let_in(tasks.front())) {
            input_.release(1);
            return true;
        }
        if (limit_.when_full == WhenFull::wait) return false;
        waiting_.push_back(std::move(tasks.front()));
        input_.release(1);
        if (waiting_.size() > limit_.waiting) drop();
        return true;
    }
    [[nodiscard]] bool let_in(T& task) {
        const std::size_t bytes =
            limit_.bytes == 0 ? 0 : std::invoke(bytes_of_, std::as_const(task));
        if (!flight_->try_begin(bytes)) return false;
        output_.emit({std::move(task), FlightTag(flight_, bytes)});
        count_out(1);
        return true;
    }
    void drop() {
        if (limit_.when_full == WhenFull::drop_oldest) {
            waiting_.pop_front();
        } else {
            waiting_.pop_back();
        }
        dropped_.add();
        for (Loop* loop : loops()) loop->give_back(1);
    }

    const Limit limit_;
    BytesOf bytes_of_;
    std::shared_ptr<Flight> flight_;
    Input<T> input_;
    Output<Tagged<T, FlightTag>> output_;
    std::deque<T> waiting_;
    Counter dropped_;
};

/// Behind what is limited: there the tags end.
template <class U>
class EndOfFlight : public OperatorTypes<Tagged<U, FlightTag>, U> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "limit end", .emits = Emits::one, .hears = events<>};

    void process(Tagged<U, FlightTag>& task, auto& emit) {
        const FlightTag tag = std::move(task.tag);
        emit(std::move(task.value));
    }
};

}  // namespace strid::pattern::detail
