// SPDX-License-Identifier: Apache-2.0
//
// The emitter that the function of a node gets, and the tasks that are kept until the function
// returns.
//
// Threads: only the thread that steps the node.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/pattern/back_lane.hpp>
#include <strid/engine/pattern/ports.hpp>
#include <strid/pattern/node_work.hpp>
#include <strid/runtime/task.hpp>

namespace strid::pattern {

/// Where a node's tasks go: to its output, and in a loop's last node back to the entry. The results
/// of one task are kept until its function returns, since only then is known how many credits they
/// need; where there is no loop they go at once.
template <class U, class Again>
class Emission {
  public:
    void set_back(BackLane<Again>& lane, runtime::Task& entry) {
        back_ = &lane;
        entry_ = &entry;
    }
    [[nodiscard]] bool leads_back() const noexcept { return back_ != nullptr; }

    std::vector<U> made;
    std::vector<Again> again;

    void send_back() {
        sent_back_ = sent_back_ || !again.empty();
        for (Again& task : again) back_->push(std::move(task));
        again.clear();
    }
    /// Wakes the entry, where anything was sent back since this was last called.
    void announce() noexcept {
        if (std::exchange(sent_back_, false)) entry_->notify();
    }

  private:
    BackLane<Again>* back_ = nullptr;
    runtime::Task* entry_ = nullptr;
    bool sent_back_ = false;
};

namespace detail {

/// Throws Error.
[[noreturn]] void throw_no_loop();

/// The emitter of a node's function.
template <class U, class Again, bool in_loop>
class NodeEmit {
  public:
    NodeEmit(Output<U>& output, Emission<U, Again>& emission)
        : output_(output), emission_(emission) {}

    /// Hands a task on; one that is not constant is moved from.
    template <class Made>
        requires std::constructible_from<U, Made&&>
    void operator()(Made&& made) {
        ++count_;
        if constexpr (in_loop) {
            emission_.made.emplace_back(take(std::forward<Made>(made)));
        } else {
            output_.emit(take(std::forward<Made>(made)));
        }
    }
    /// Of the last node of a loop: a task goes through the loop once more. Throws Error in other
    /// nodes of the loop; does not compile outside of one.
    template <class Made>
        requires std::constructible_from<Again, Made&&>
    void again(Made&& made) {
        if (!in_loop || !emission_.leads_back()) throw_no_loop();
        emission_.again.emplace_back(std::forward<Made>(made));
    }
    /// Whether more may be emitted by a hook that emits much.
    [[nodiscard]] bool room() const noexcept { return output_.ready(); }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

  private:
    template <class Made>
    static U take(Made&& made) {
        if constexpr (std::same_as<Made, U&>) {
            return std::move(made);
        } else {
            return U(std::forward<Made>(made));
        }
    }

    Output<U>& output_;
    Emission<U, Again>& emission_;
    std::size_t count_ = 0;
};

/// For one that makes nothing.
template <class Again, bool in_loop>
class NodeEmit<Nothing, Again, in_loop> {
  public:
    NodeEmit(Output<Nothing>& /*output*/, Emission<Nothing, Again>& emission)
        : emission_(emission) {}

    template <class Made>
        requires std::constructible_from<Again, Made&&>
    void again(Made&& made) {
        if (!in_loop || !emission_.leads_back()) throw_no_loop();
        emission_.again.emplace_back(std::forward<Made>(made));
    }
    [[nodiscard]] bool room() const noexcept { return true; }
    [[nodiscard]] std::size_t count() const noexcept { return 0; }

  private:
    Emission<Nothing, Again>& emission_;
};

template <class U>
using Made = std::conditional_t<std::is_void_v<U>, Nothing, U>;

}  // namespace detail

}  // namespace strid::pattern
