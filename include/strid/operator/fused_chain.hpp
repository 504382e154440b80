// SPDX-License-Identifier: Apache-2.0
//
// The stages of a fused segment and the router behind them. Neighbours compose when the template is
// instantiated: a record passes the whole chain without a call between its operators.
//
// Records pass in a Passage, which lives as long as one run of the node. It holds its own copy of
// every stage that is small and trivially copyable, and writes it back at its end: a sum that a
// sink adds up, or a counter that a map holds, stays in registers from record to record instead of
// going through memory. Stages that are anything else (a table by key, a file) are used in place.
//
// Threads: only the task of the node.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/cache_line.hpp>
#include <strid/operator/output_port.hpp>

namespace strid::operators {

/// Rethrows the exception being handled as an OperatorError of the named operator; one that
/// already is an OperatorError (of an operator further down the chain) passes as it is.
[[noreturn]] void rethrow_as(const std::string& operator_name);

/// Calls user code of the named operator.
template <class Action>
[[gnu::always_inline]] inline void guarded(const std::string& operator_name, Action&& action) {
    try {
        action();
    } catch (...) {
        rethrow_as(operator_name);
    }
}

/// Whether a passage works on a copy of the stage.
template <class Stage>
inline constexpr bool kept_in_registers =
    std::is_trivially_copyable_v<Stage> && std::is_copy_constructible_v<Stage> &&
    sizeof(Stage) <= 2 * cache_line_bytes;

template <class Router, class... Stages>
class FusedChain {
  public:
    static constexpr std::size_t stage_count = sizeof...(Stages);
    static constexpr bool has_output = Router::has_output;
    template <std::size_t I>
    using Stage = std::tuple_element_t<I, std::tuple<Stages...>>;
    /// Records that left each selective stage during one run.
    using Passed = std::array<std::uint64_t, stage_count + 1>;
    class Passage;

    FusedChain(std::tuple<Stages...> stages, Router router)
        : stages_(std::move(stages)), router_(std::move(router)) {}

    /// Called once, before the first record of a chain that has an output.
    void bind(OutputPort& port) noexcept {
        router_.bind(port);
        port_ = &port;
    }

    /// Calls `visit.operator()<I>(stage)` for each stage, first to last. Not during a passage.
    template <class Visit>
    void for_each_stage(Visit&& visit) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (visit.template operator()<I>(std::get<I>(stages_)), ...);
        }(std::index_sequence_for<Stages...>{});
    }
    [[nodiscard]] const auto& last_stage() const noexcept
        requires(stage_count != 0)
    {
        return std::get<stage_count - 1>(stages_);
    }

    /// True while one more record may be started: the output has a spare block, or the sink
    /// accepts.
    [[nodiscard]] bool ready() { return ready(stages_); }

  private:
    template <class Held>
    [[nodiscard]] bool ready(Held& held) {
        if constexpr (has_output) {
            return port_->spare();
        } else if constexpr (stage_count != 0) {
            auto& last = std::get<stage_count - 1>(held);
            if constexpr (requires { last.accepts(); }) return last.accepts();
        }
        return true;
    }

    std::tuple<Stages...> stages_;
    [[no_unique_address]] Router router_;
    OutputPort* port_ = nullptr;
};

/// One run of the chain. `names` are the operators of the stages, `passed` is counted up.
template <class Router, class... Stages>
class FusedChain<Router, Stages...>::Passage {
  public:
    Passage(FusedChain& chain, const std::string* names, Passed& passed)
        : chain_(chain),
          names_(names),
          passed_(passed),
          held_(std::apply([](auto&... stages) { return Held(stages...); }, chain.stages_)) {}
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;
    ~Passage() {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (write_back<I>(), ...);
        }(std::index_sequence_for<Stages...>{});
    }

    [[nodiscard]] bool ready() { return chain_.ready(held_); }

    /// Passes a record from stage I on; it may be changed and moved from.
    ///
    /// Inlined whatever the compiler's budget for a file says: where a link of the chain becomes a
    /// call, the record goes through memory between two operators.
    template <std::size_t I = 0, class Record>
    [[gnu::always_inline]] void pass(Record& record) {
        if constexpr (I < stage_count) {
            guarded(names_[I], [&] { std::get<I>(held_)(record, next_of<I>()); });
        } else if constexpr (has_output) {
            chain_.router_(*chain_.port_, record);
        }
    }

    /// The input has ended: the stages emit what they still hold while `more_room()` says so. True
    /// once all have.
    template <std::size_t I = 0, class MoreRoom>
    [[nodiscard]] bool finish(const MoreRoom& more_room) {
        if constexpr (I < stage_count) {
            auto& stage = std::get<I>(held_);
            auto next = next_of<I>();
            if constexpr (requires { stage.finish(next, more_room); }) {
                bool done = false;
                guarded(names_[I], [&] { done = stage.finish(next, more_room); });
                if (!done) return false;
            }
            return finish<I + 1>(more_room);
        } else {
            return true;
        }
    }

  private:
    template <class S>
    using AtHand = std::conditional_t<kept_in_registers<S>, S, S&>;
    using Held = std::tuple<AtHand<Stages>...>;

    template <std::size_t I>
    [[nodiscard]] auto next_of() {
        return [this](auto& record) __attribute__((always_inline)) {
            if constexpr (Stage<I>::selective) ++passed_[I];
            this->template pass<I + 1>(record);
        };
    }

    template <std::size_t I>
    void write_back() noexcept {
        // Constructed anew because a lambda cannot be assigned.
        if constexpr (kept_in_registers<Stage<I>>) {
            std::construct_at(std::addressof(std::get<I>(chain_.stages_)), std::get<I>(held_));
        }
    }

    FusedChain& chain_;
    const std::string* names_;
    Passed& passed_;
    Held held_;
};

}  // namespace strid::operators
