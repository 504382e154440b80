// SPDX-License-Identifier: Apache-2.0
//
// The entrance and the exit of a pattern, used by threads of the program (paper 4, section 1.2.2).
// The nodes here only wake those threads: a thread that offloads hands its task to the lanes of the
// first workers itself, and one that takes a result takes it from the lanes of the last, under a
// mutex each. The exit keeps results that are not taken in time, so a program may offload all its
// tasks before it takes a result.
//
// Threads: any thread may call offload, end, take and the like; steps as every node.
//
// Invariant: a result is in a lane or kept, and kept results are older than those in the lanes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/engine/base/relax.hpp>
#include <strid/engine/pattern/name_of_tasks.hpp>
#include <strid/engine/pattern/pattern_task.hpp>
#include <strid/engine/pattern/ports.hpp>
#include <strid/engine/window/structures/flat_ring.hpp>

namespace strid::pattern {

/// Where tasks come in.
template <TaskType T>
class Entrance final : public PatternNode {
  public:
    Entrance() : PatternNode("entrance", 0, 1, {}) {}

    [[nodiscard]] Output<T>& output() noexcept { return output_; }

    enum class [[nodiscard]] Offer : std::uint8_t {
        taken,
        full,    ///< no room now
        ended,   ///< by end() or a stop
        cut_off  ///< the pattern has failed or was cancelled
    };

    /// The task is moved from where the answer is `taken`.
    Offer try_offload(T& task) {
        const std::lock_guard lock(mutex_);
        return hand_on(task);
    }
    /// Waits for room.
    Offer offload(T& task) {
        std::unique_lock lock(mutex_);
        while (true) {
            const Offer offer = hand_on(task);
            if (offer != Offer::full) return offer;
            ++waiting_;
            room_.wait(lock);
            --waiting_;
        }
    }
    /// Nothing more comes.
    void end() {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        room_.notify_all();
        notify();
    }

    runtime::StepResult step(std::int64_t& /*clock_ns*/) override {
        const std::lock_guard lock(mutex_);
        const bool all_out = settle(output_);
        if (all_out && ended_) return finish(output_);
        if (all_out && waiting_ != 0) room_.notify_all();
        return leave_step(output_, false, [] {});
    }
    [[nodiscard]] bool awaits_outside() const noexcept override { return true; }
    [[nodiscard]] static NodeType type() {
        return {.kind = "entrance", .makes = detail::name_of_tasks<T>()};
    }
    void request_stop() noexcept override { end(); }
    void interrupt() noexcept override {
        const std::lock_guard lock(mutex_);
        cut_off_ = true;
        room_.notify_all();
    }

  private:
    // With the mutex.
    Offer hand_on(T& task) {
        if (cut_off_) return Offer::cut_off;
        if (ended_) return Offer::ended;
        if (!output_.settle()) {
            if (output_.must_wait()) return Offer::full;
        }
        output_.emit(std::move(task));
        count_out(1);
        // One that found no room is in the overflow: the node waits for room for it.
        if (!output_.ready()) notify();
        output_.announce();
        return Offer::taken;
    }

    std::mutex mutex_;
    std::condition_variable room_;
    std::size_t waiting_ = 0;  // guarded, as are those below
    Output<T> output_;
    bool ended_ = false;
    bool cut_off_ = false;
};

/// Where results go out.
template <TaskType U>
class Exit final : public PatternNode {
  public:
    Exit() : PatternNode("exit", 0, 1, {}) {}

    [[nodiscard]] Input<U>& input() noexcept { return input_; }
    /// Before the run, when all lanes are there.
    void watch_lanes() noexcept { input_.set_watchers(watchers_); }

    /// The oldest result, where there is one now.
    [[nodiscard]] std::optional<U> try_take() {
        const std::lock_guard lock(mutex_);
        return take_now();
    }
    /// Waits for a result; none where all were taken and none will come. A thread looks for some
    /// time before it sleeps.
    [[nodiscard]] std::optional<U> take() {
        if (std::optional<U> result = watch()) return result;
        std::unique_lock lock(mutex_);
        while (true) {
            if (std::optional<U> result = take_now(); result || is_over()) return result;
            ++waiting_;
            filled_.wait(lock);
            --waiting_;
        }
    }
    /// No result will come, but those that are here.
    [[nodiscard]] bool is_over() const noexcept {
        return ended_.load(std::memory_order_relaxed) || cut_off_.load(std::memory_order_relaxed);
    }
    /// The pattern has failed or was cancelled.
    [[nodiscard]] bool was_cut_off() const noexcept {
        return cut_off_.load(std::memory_order_relaxed);
    }

    runtime::StepResult step(std::int64_t& clock_ns) override {
        const std::lock_guard lock(mutex_);
        std::size_t done = 0;
        while (done < budget()) {
            const std::span<U> results = input_.peek(budget() - done);
            if (results.empty()) break;
            for (U& result : results) kept_.push_back(std::move(result));
            input_.release(results.size());
            done += results.size();
        }
        kept_count_.store(kept_.size(), std::memory_order_relaxed);
        account(done, clock_ns);
        if (done == 0 && input_.ended()) ended_.store(true, std::memory_order_relaxed);
        if (waiting_ != 0 && (done != 0 || is_over())) filled_.notify_all();
        if (ended_.load(std::memory_order_relaxed)) return runtime::StepResult::finished;
        if (done != 0) return runtime::StepResult::progressed;
        input_.rest();
        return runtime::StepResult::waiting;
    }
    [[nodiscard]] bool has_work() const noexcept override { return input_.waiting(); }
    [[nodiscard]] static NodeType type() {
        return {.kind = "exit", .takes = detail::name_of_tasks<U>()};
    }
    [[nodiscard]] bool awaits_outside() const noexcept override { return true; }
    void interrupt() noexcept override {
        const std::lock_guard lock(mutex_);
        cut_off_.store(true, std::memory_order_relaxed);
        filled_.notify_all();
    }

  private:
    static constexpr std::int64_t spin_ns = 20'000;
    static constexpr int looks_per_clock = 16;

    /// Looks for a result for a while. Meanwhile producers do not wake this node; afterwards it is
    /// woken for the results that are left.
    [[nodiscard]] std::optional<U> watch() {
        std::optional<U> result;
        {
            const LaneWatch watch(watchers_);
            for (std::int64_t until_ns = now_ns() + spin_ns; !result && now_ns() < until_ns;) {
                for (int i = 0; i < looks_per_clock && !result && !is_over(); ++i, relax()) {
                    if (!may_have_result()) continue;
                    const std::lock_guard lock(mutex_);
                    result = take_now();
                }
                if (is_over()) break;
            }
        }
        if (input_.waiting()) notify();
        return result;
    }

    /// Any thread: a guess.
    [[nodiscard]] bool may_have_result() const noexcept {
        return kept_count_.load(std::memory_order_relaxed) != 0 || input_.waiting() || is_over();
    }
    // With the mutex.
    [[nodiscard]] std::optional<U> take_now() {
        if (cut_off_.load(std::memory_order_relaxed)) return std::nullopt;
        if (!kept_.empty()) {
            std::optional<U> result(std::move(kept_.front()));
            kept_.pop_front();
            kept_count_.store(kept_.size(), std::memory_order_relaxed);
            return result;
        }
        const std::span<U> results = input_.peek(1);
        if (results.empty()) {
            input_.rest();
            if (input_.ended()) {
                ended_.store(true, std::memory_order_relaxed);
                filled_.notify_all();
                notify();
            }
            return std::nullopt;
        }
        std::optional<U> result(std::move(results.front()));
        input_.release(1);
        count_in(1);
        return result;
    }

    std::mutex mutex_;
    std::condition_variable filled_;
    std::size_t waiting_ = 0;  // guarded, as are those below
    Input<U> input_;
    window::FlatRing<U> kept_;
    // Written with the mutex; hints without.
    std::atomic<std::size_t> kept_count_{0};
    std::atomic<bool> ended_{false};  // no result will come
    std::atomic<bool> cut_off_{false};
    Watchers watchers_;
};

}  // namespace strid::pattern
