// SPDX-License-Identifier: Apache-2.0
//
// A pattern with a future for each submitted task (paper 4, section 1.2.2), for programs that need
// the result of a given task.
//
//     auto squares = calls<int>(farm(square));
//     std::future<int> nine = squares.submit(3);
//
// An exception of a function for a task is the result of that task; the other tasks go on. The
// future of a task without a result throws Error. A task with two results ends the pattern. If the
// pattern fails or is cancelled, its futures throw that failure, or Error.
//
// Threads: as an accelerator.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/engine/pattern/tagged.hpp>
#include <strid/pattern/accelerator.hpp>

namespace strid::pattern {

namespace detail {

/// The promises that wait for their results. Any thread.
///
/// Invariant: a promise is set by the one that takes it off the list.
template <class U>
class PendingResults {
  public:
    struct One {
        std::promise<U> promise;
        typename std::list<One*>::iterator place{};
    };

    [[nodiscard]] std::unique_ptr<One> add(std::promise<U> promise) {
        auto one = std::make_unique<One>(std::move(promise));
        const std::lock_guard lock(mutex_);
        one->place = waiting_.insert(waiting_.end(), one.get());
        if (why_ended_) fail(*one);
        return one;
    }
    /// False where it has failed.
    [[nodiscard]] bool take(One& one) noexcept {
        const std::lock_guard lock(mutex_);
        if (one.place == waiting_.end()) return false;
        waiting_.erase(one.place);
        one.place = waiting_.end();
        return true;
    }
    /// Those that wait, and any that are added from now on.
    void fail_all(std::exception_ptr why) {
        const std::lock_guard lock(mutex_);
        why_ended_ = std::move(why);
        while (!waiting_.empty()) fail(*waiting_.front());
    }

  private:
    // With the mutex.
    void fail(One& one) {
        waiting_.erase(one.place);
        one.place = waiting_.end();
        one.promise.set_exception(why_ended_);
    }

    std::mutex mutex_;
    std::list<One*> waiting_;  // guarded, as is the next
    std::exception_ptr why_ended_;
};

/// The tag of a task whose result is waited for.
template <class U>
class PendingResult {
  public:
    static constexpr bool takes_failures = true;

    PendingResult() = default;
    PendingResult(std::shared_ptr<PendingResults<U>> all, std::promise<U> promise)
        : all_(std::move(all)), one_(all_->add(std::move(promise))), of_task_(true) {}
    PendingResult(PendingResult&& other) noexcept = default;
    PendingResult& operator=(PendingResult&& other) noexcept {
        if (this == &other) return *this;
        give_up();
        all_ = std::move(other.all_);
        one_ = std::move(other.one_);
        of_task_ = other.of_task_;
        return *this;
    }
    ~PendingResult() { give_up(); }

    template <class Action>
    void guarded(const Action& action) {
        try {
            action();
        } catch (const TwoResults&) {
            throw;
        } catch (...) {
            if (one_ == nullptr) throw;  // the result has left
            settle(
                [](std::promise<U>& promise) { promise.set_exception(std::current_exception()); });
        }
    }
    [[nodiscard]] PendingResult share() {
        if (one_ == nullptr && of_task_) throw TwoResults();
        return std::move(*this);
    }
    void finish() {
        if constexpr (std::is_void_v<U>) {
            settle([](std::promise<U>& promise) { promise.set_value(); });
        }
    }
    template <class Value>
    void deliver(Value&& value) {
        settle([&](std::promise<U>& promise) { promise.set_value(std::forward<Value>(value)); });
    }

  private:
    struct TwoResults : Error {
        TwoResults() : Error("two results were made of a task whose future waits for one") {}
    };

    template <class Action>
    void settle(const Action& action) {
        const std::unique_ptr<typename PendingResults<U>::One> one = std::move(one_);
        if (one != nullptr && all_->take(*one)) action(one->promise);
    }
    void give_up() noexcept {
        try {
            settle([](std::promise<U>& promise) {
                promise.set_exception(
                    std::make_exception_ptr(Error("no result was made of a task")));
            });
        } catch (...) {
            // Out of memory: the future says that its promise is broken.
        }
    }

    std::shared_ptr<PendingResults<U>> all_;
    std::unique_ptr<typename PendingResults<U>::One> one_;
    bool of_task_ = false;  // unlike what an operator emits at the end of its input
};

/// The last node: results go to their futures.
template <class U>
struct Deliver {
    void operator()(Tagged<U, PendingResult<U>> result) const {
        result.tag.deliver(std::move(result.value));
    }
};

}  // namespace detail

/// Takes tasks of `T` and gives futures of `U`; with void a future only shows that the task is
/// done.
template <TaskType T, class U>
class Calls {
  public:
    /// The type inside the pattern: a task with the promise of its result.
    using Task = detail::Tagged<T, detail::PendingResult<U>>;

    /// Starts the pattern. Throws GraphError, OperatorError.
    template <class Pattern>
    Calls(Pattern pattern, Options options)
        : accelerator_(whole(std::move(pattern)), failing_with_it(std::move(options), promises_)) {}
    /// Cancels what still runs.
    ~Calls() = default;
    Calls(Calls&&) noexcept = default;
    Calls& operator=(Calls&&) noexcept = default;

    /// Waits for room. Throws as offload().
    [[nodiscard]] std::future<U> submit(T task) {
        std::promise<U> promise;
        std::future<U> future = promise.get_future();
        accelerator_.offload(Task(std::move(task), {promises_, std::move(promise)}));
        return future;
    }
    /// Does not wait: returns none if there is no room, and leaves the task unchanged.
    [[nodiscard]] std::optional<std::future<U>> try_submit(T& task) {
        std::promise<U> promise;
        std::future<U> future = promise.get_future();
        Task tagged(std::move(task), {promises_, std::move(promise)});
        if (accelerator_.try_offload(tagged)) return future;
        task = std::move(tagged.value);
        return std::nullopt;
    }

    /// Waits for the result, as future.get(). If this pattern was started in a node of another, use
    /// this function: it steps the pattern while it waits, which future.get() does not.
    U get(std::future<U> future) {
        accelerator_.help_until([&future] {
            return future.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
        });
        return future.get();
    }

    /// No more tasks may be submitted. The pattern ends when all its tasks are done.
    void end() { accelerator_.end(); }
    /// Waits until the pattern has ended, after end() or cancel().
    void wait() { accelerator_.wait(); }
    /// Ends the pattern at once; waiting futures throw Error.
    void cancel() noexcept { accelerator_.cancel(); }
    /// The figures up to now. Any thread.
    [[nodiscard]] Report report() const { return accelerator_.report(); }
    /// The nodes and lanes of the pattern.
    [[nodiscard]] NetworkDescription description() const { return accelerator_.description(); }

  private:
    template <class Pattern>
    static auto whole(Pattern pattern) {
        auto tagged = detail::tag<detail::PendingResult<U>>(std::move(pattern));
        if constexpr (std::is_void_v<U>) {
            return tagged;
        } else {
            return pipeline(std::move(tagged), detail::Deliver<U>{});
        }
    }

    /// A pattern that fails or is cancelled has no results for those that wait.
    static Options failing_with_it(Options options,
                                   const std::shared_ptr<detail::PendingResults<U>>& promises) {
        options.execution.on_end = [promises, next = std::move(options.execution.on_end)](
                                       const runtime::ExecutionEnd& end) {
            if (end.failure) {
                promises->fail_all(end.failure);
            } else if (end.cancelled) {
                promises->fail_all(std::make_exception_ptr(Error("the pattern was cancelled")));
            }
            if (next) next(end);
        };
        return options;
    }

    std::shared_ptr<detail::PendingResults<U>> promises_ =
        std::make_shared<detail::PendingResults<U>>();
    Accelerator<Task, Nothing> accelerator_;  // after the promises: it fails them
};

/// A pattern for tasks of `T` to be submitted to, which is running when this returns.
template <TaskType T, class Pattern>
[[nodiscard]] auto calls(Pattern pattern, Options options = {}) {
    static_assert(detail::takes_tags<Pattern>());
    using Behind = decltype(detail::build(std::declval<Network&>(), Ends<T>{}, pattern));
    return [&]<class U>(std::type_identity<Ends<U>>) {
        using Result = std::conditional_t<std::same_as<U, Nothing>, void, U>;
        return Calls<T, Result>(std::move(pattern), std::move(options));
    }(std::type_identity<Behind>{});
}

}  // namespace strid::pattern
