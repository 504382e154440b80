// SPDX-License-Identifier: Apache-2.0
//
// The operators of a fused segment, called its stages, and the router behind them. Neighbours
// compose when the template is instantiated: a record passes the whole chain without a call between
// its operators. operator/contract.hpp lists the hooks of an operator.
//
// Records pass in a Passage (engine/kernel/passage.hpp), which lives as long as one run of the
// node.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <strid/base/watermark.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/kernel/node.hpp>
#include <strid/engine/kernel/operator_table.hpp>
#include <strid/engine/kernel/output_port.hpp>
#include <strid/engine/kernel/stage_list.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/operator/late_apart.hpp>
#include <strid/engine/operator/state_size.hpp>
#include <strid/operator/contract.hpp>

namespace strid::operators {

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
    using Stage = StageTypeAt<I, StageList<Stages...>>;
    /// Records that left each selective stage during one run.
    using Passed = std::array<std::uint64_t, stage_count + 1>;
    class Passage;

    FusedChain(StageList<Stages...>&& stages, const Router& router)
        : stages_(std::move(stages)), router_(router) {}

    /// Called once, before the first record of a chain that has an output.
    void bind(OutputPort& port) noexcept {
        router_.bind(port);
        port_ = &port;
    }

    /// Records on which the function of the stage throws are dropped and counted. Before the first
    /// record.
    void skip(std::size_t stage) noexcept { skipping_[stage].wanted = true; }
    /// The number of such records since the last call.
    [[nodiscard]] std::uint64_t take_skipped(std::size_t stage) noexcept {
        return skipping_[stage].take();
    }
    /// The number of late records of the stage since the last call.
    [[nodiscard]] std::uint64_t take_late(std::size_t stage) noexcept {
        return std::exchange(late_[stage], 0);
    }

    /// Calls `visit` with the address and the table of each stage, first to last.
    template <class Visit>
    void each_node_operator(const Visit& visit) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (visit({std::addressof(stage_at<I>(stages_)), &operator_table<Stages>}), ...);
        }(std::index_sequence_for<Stages...>{});
    }
    /// Calls `visit.operator()<I>(stage)` for each stage, first to last. Not during a passage.
    template <class Visit>
    void for_each_stage(Visit&& visit) {
        stages_.each(std::forward<Visit>(visit));
    }
    /// Some stage handles such events.
    template <class Event>
    static constexpr bool hears = (Hears<Stages, Event> || ...);
    /// As for_each_stage, for the stages that handle such events.
    template <class Event, class Visit>
    void each_that_hears([[maybe_unused]] const Visit& visit) {
        if constexpr (hears<Event>) {
            for_each_stage([&visit]<std::size_t I, class Stage>(Stage& stage) {
                if constexpr (Hears<Stage, Event>) visit.template operator()<I>(stage);
            });
        }
    }
    /// Some stage is called in every run.
    static constexpr bool asks = (asks_in_every_run<Stages> || ...);
    /// Tasks of the first stage, or outside threads, work on the records.
    static constexpr bool works_apart = [] {
        if constexpr (stage_count != 0) return operators::works_apart<Stage<0>>;
        return false;
    }();
    /// A stage may forbid to begin a record.
    static constexpr bool may_hold_back =
        ((operators::works_apart<Stages> || has<Stages, Has::held_back>) || ...);
    /// The sink may have no room.
    static constexpr bool may_refuse = [] {
        if constexpr (stage_count != 0 && !has_output) {
            return has<Stage<stage_count - 1>, Has::accepts>;
        }
        return false;
    }();
    /// No record behind the chain refers to texts of its input.
    static constexpr bool forgets_input = (Stages::traits.forgets_input || ...);
    /// Some stage owns texts.
    static constexpr bool has_own_texts = (has_texts<Stages> || ...);
    /// The first stage does not change the records that arrive.
    static constexpr bool only_reads = [] {
        if constexpr (stage_count != 0) return Stage<0>::traits.only_reads;
        return false;
    }();
    /// Before the `count` records from `records` on: the first stage may read some of them, to
    /// prefetch the data that they need. Returns how many may pass before the next call. `names`
    /// are the operators of the stages.
    template <class Record>
    [[nodiscard]] std::size_t look_ahead(const Record* records, std::size_t count,
                                         [[maybe_unused]] const std::string* names) {
        if constexpr (stage_count != 0) {
            if constexpr (Hears<Stage<0>, Coming<Record>>) {
                auto& first = stage_at<0>(stages_);
                std::size_t seen = 0;
                // It calls the user's key function.
                guarded(names[0], [&] {
                    seen = first.on(Coming<Record>{std::span<const Record>(records, count)});
                });
                STRID_ASSERT(seen != 0 && seen <= count);
                return seen;
            }
        }
        return count;
    }
    /// Keeps alive the texts of the stages that the port does not know yet.
    void keep_own_alive() {
        if constexpr (has_own_texts) {
            for_each_stage([this]<std::size_t I, class S>(S& stage) {
                if constexpr (has_texts<S>) keep_texts_alive(stage);
            });
        }
    }
    /// If nothing is sent, the output need not hold it.
    [[nodiscard]] bool is_held_by_output([[maybe_unused]] const memory::TextReference& epoch) {
        if constexpr (has_output) return port_->keep_alive_too(epoch);
        return true;
    }
    /// A stage forbids to begin a record though there is room. A stage that only waits for a time
    /// continues at once when the run was `stopped`.
    [[nodiscard]] bool held_back(bool stopped) const noexcept {
        const auto held = [stopped]<class S>(const S& stage) {
            if constexpr (operators::works_apart<S>) return stage.held_back();
            if constexpr (has<S, Has::held_back>) return !stopped && stage.held_back();
            return false;
        };
        return stages_.any(held);
    }
    /// The sink may refuse records until outside threads make room, or the first stage waits for
    /// results of theirs.
    static constexpr bool awaits_outside = [] {
        bool awaits = false;
        if constexpr (stage_count != 0) awaits = Stage<0>::traits.awaits_outside;
        return awaits || may_refuse;
    }();

    /// True while one more record may be started: the output has a spare block, or the sink
    /// accepts.
    [[nodiscard]] bool ready() { return ready(port_, stages_); }

  private:
    // Another thread sends it, also during a passage.
    static_assert(((!Hears<Stages, CutOff> || !kept_in_registers<Stages>)&&...));

    template <class S>
    void keep_texts_alive(S& stage) {
        for_each_state(stage, [this](auto& state) {
            if constexpr (HasTexts<decltype(state)>) {
                if (!is_held_by_output(state.texts().advance_epoch()))
                    state.texts().keep_for_good();
            }
        });
    }

    template <class Held>
    [[nodiscard]] static bool ready([[maybe_unused]] const OutputPort* port,
                                    [[maybe_unused]] Held& held) {
        if constexpr (has_output) {
            return port->spare();
        } else if constexpr (stage_count != 0) {
            if constexpr (has<Stage<stage_count - 1>, Has::accepts>) {
                return stage_at<stage_count - 1>(held).accepts();
            }
        }
        return true;
    }

    StageList<Stages...> stages_;
    [[no_unique_address]] Router router_;
    std::array<Skipping, stage_count + 1> skipping_{};
    std::array<std::uint64_t, stage_count + 1> late_{};  // since the last take_late()
    OutputPort* port_ = nullptr;
};

}  // namespace strid::operators
