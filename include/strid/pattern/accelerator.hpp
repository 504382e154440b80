// SPDX-License-Identifier: Apache-2.0
//
// A pattern as an accelerator of a program that stays sequential (paper 4, section 1.2.2): the
// program offloads tasks to it and takes the results when it needs them.
//
//     auto squares = accelerate<int>(farm(square));
//     for (const int number : numbers) squares.offload(number);
//     squares.end();
//     while (auto result = squares.result()) sum += *result;
//
// Results come in the order of the pattern: that of the tasks for a pipeline of nodes, any for a
// farm. Results that are not taken are kept, so a program may offload all its tasks first.
//
// Threads: any number may offload and take results. Call freeze, thaw and the destructor only when
// no other thread uses the accelerator. Several accelerators share nothing. In a child process,
// accelerators of the parent throw Error; the child may start its own.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/engine/pattern/doors.hpp>
#include <strid/pattern/pattern.hpp>

namespace strid::pattern {

/// Takes tasks of `T` and gives results of `U`; with Nothing it gives no results.
template <TaskType T, class U>
class Accelerator {
  public:
    /// Starts the pattern. Throws GraphError, OperatorError.
    template <class Pattern>
    Accelerator(Pattern pattern, Options options)
        : options_(std::move(options)), start_([pattern = std::move(pattern)](Run& run) {
              Ends<T> ends{{{&run.entrance->output(), run.entrance}}};
              auto behind = detail::build(run.network, ends, pattern);
              if constexpr (!std::same_as<U, Nothing>) {
                  run.exit = &run.network.add(std::make_unique<Exit<U>>());
                  run.network.connect(behind, run.exit->input(), *run.exit);
                  run.exit->watch_lanes();
              }
          }) {
        thaw();
    }
    Accelerator(Accelerator&&) noexcept = default;
    Accelerator& operator=(Accelerator&&) noexcept = default;
    /// Cancels what still runs. Results that were not taken are destroyed.
    ~Accelerator() = default;

    /// Waits for room. Throws the error of a node (OperatorError), and Error after end() or
    /// cancel(). The task is moved from unless the call throws.
    void offload(T task) {
        check_process();
        Offer offer = run_->entrance->try_offload(task);
        if (offer == Offer::full) offer = offload_when_there_is_room(task);
        if (offer != Offer::taken) throw_why_shut(offer);
    }
    /// Does not wait: returns false if there is no room, and leaves the task unchanged.
    [[nodiscard]] bool try_offload(T& task) {
        check_process();
        Offer offer = run_->entrance->try_offload(task);
        if (offer == Offer::full && run_->network.help_now()) {
            offer = run_->entrance->try_offload(task);
        }
        if (offer != Offer::taken && offer != Offer::full) throw_why_shut(offer);
        return offer == Offer::taken;
    }

    /// Waits for a result. Returns none after end() or cancel(), when all results were taken.
    /// Throws the error of a node.
    [[nodiscard]] std::optional<U> result()
        requires(!std::same_as<U, Nothing>)
    {
        check_process();
        std::optional<U> result = next_result();
        if (!result) rethrow_failure();
        return result;
    }
    /// Does not wait: returns none if no result is there now.
    [[nodiscard]] std::optional<U> try_result()
        requires(!std::same_as<U, Nothing>)
    {
        check_process();
        std::optional<U> result = run_->exit->try_take();
        if (!result && run_->network.help_now()) result = run_->exit->try_take();
        if (!result) rethrow_failure();
        return result;
    }

    /// No more tasks may be offloaded. The pattern ends when all its tasks are done.
    void end() { run_->entrance->end(); }
    /// Waits until the pattern has ended, after end() or cancel(). Results may still be taken.
    /// Throws the error of a node.
    void wait() {
        check_process();
        run_->network.wait();
    }
    /// Ends the pattern at once; waiting threads return.
    void cancel() noexcept { run_->network.cancel(); }

    /// Ends the pattern and waits until its threads have ended. Results may still be taken. Throws
    /// the error of a node.
    void freeze() {
        end();
        wait();
    }
    /// Starts the pattern again from its original state. Results that were not taken are destroyed.
    void thaw() {
        run_.reset();
        std::unique_ptr<Run, Destroy> run(std::make_unique<Run>(options_).release());
        start_(*run);
        run->network.start();
        run_ = std::move(run);
    }

    /// For an accelerator that was started in a node of another pattern, and so has no threads:
    /// steps its nodes until `ready()`. For others it returns at once.
    template <std::predicate Ready>
    void help_until(const Ready& ready) {
        run_->network.check_not_inside();
        while (run_->network.is_on_callers() && !ready()) run_->network.help();
    }

    /// The figures of its nodes since it was started or thawed. Any thread.
    [[nodiscard]] Report report() const { return run_->network.report(); }
    /// A description of the pattern, for explain() and pictures.
    [[nodiscard]] NetworkDescription description() const { return run_->network.description(); }

  private:
    using Offer = typename Entrance<T>::Offer;
    struct Run {
        explicit Run(const Options& options)
            : network(options), entrance(&network.add(std::make_unique<Entrance<T>>())) {}

        Network network;
        Entrance<T>* entrance;
        Exit<U>* exit = nullptr;
    };

    /// A child process has none of the threads, and what they had locked at the fork stays locked.
    struct Destroy {
        void operator()(Run* run) const noexcept {
            if (run->network.in_its_process()) std::default_delete<Run>{}(run);
        }
    };

    void check_process() const {
        if (run_->network.in_its_process()) return;
        throw Error(
            "an accelerator is used in a child process, where its threads are not: it is to be "
            "started after fork()");
    }
    Offer offload_when_there_is_room(T& task) {
        Run& run = *run_;
        run.network.check_not_inside();
        if (!run.network.is_on_callers()) return run.entrance->offload(task);
        Offer offer = Offer::full;
        while (offer == Offer::full) {
            run.network.help();
            offer = run.entrance->try_offload(task);
        }
        return offer;
    }
    std::optional<U> next_result() {
        Run& run = *run_;
        if (!run.network.is_on_callers()) {
            if (run.network.is_inside()) return result_inside();
            return run.exit->take();
        }
        while (true) {
            // The end first: results before it are then there to be taken.
            const bool over = run.exit->is_over();
            if (std::optional<U> result = run.exit->try_take(); result || over) return result;
            run.network.check_not_inside();
            run.network.help();
        }
    }
    /// In a node of this pattern: what is there may be taken.
    std::optional<U> result_inside() {
        if (std::optional<U> result = run_->exit->try_take()) return result;
        run_->network.check_not_inside();
        return std::nullopt;
    }
    void rethrow_failure() {
        if (run_->exit->was_cut_off()) run_->network.wait();
    }
    [[noreturn]] void throw_why_shut(Offer offer) {
        if (offer == Offer::cut_off) run_->network.wait();
        throw Error("a task was offloaded to an accelerator that has ended");
    }

    Options options_;
    std::function<void(Run&)> start_;
    std::unique_ptr<Run, Destroy> run_;
};

/// An accelerator for tasks of `T`, which is running when this returns.
template <TaskType T, class Pattern>
[[nodiscard]] auto accelerate(Pattern pattern, Options options = {}) {
    using Behind = decltype(detail::build(std::declval<Network&>(), Ends<T>{}, pattern));
    return [&]<class U>(std::type_identity<Ends<U>>) {
        return Accelerator<T, U>(std::move(pattern), std::move(options));
    }(std::type_identity<Behind>{});
}

}  // namespace strid::pattern
