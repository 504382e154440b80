// SPDX-License-Identifier: Apache-2.0
//
// The operators of a fused segment, its stages, and the router behind them. Neighbours compose when
// the template is instantiated: a record passes the whole chain without a call between its
// operators. Which hooks an operator has: operator/contract.hpp.
//
// Records pass in a Passage, which lives as long as one run of the node. It holds its own copy of
// every stage that is small and trivially copyable, and writes it back at its end: a sum that a
// sink adds up, or a counter that a map holds, stays in registers from record to record instead of
// going through memory. Stages that are anything else (a table by key, a file) are used in place.
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
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/assert.hpp>
#include <strid/base/cache_line.hpp>
#include <strid/message/batch.hpp>
#include <strid/message/watermark.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/faults.hpp>
#include <strid/operator/late_apart.hpp>
#include <strid/operator/output_port.hpp>

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

    /// Of the stage: records that its function throws on are left out and counted. Before the first
    /// record.
    void skip(std::size_t stage) noexcept { skipping_[stage].wanted = true; }
    /// How many were, since this was last asked.
    [[nodiscard]] std::uint64_t take_skipped(std::size_t stage) noexcept {
        return skipping_[stage].take();
    }
    /// How many records came late to it since this was last asked.
    [[nodiscard]] std::uint64_t take_late(std::size_t stage) noexcept {
        return std::exchange(late_[stage], 0);
    }

    /// Calls `visit.operator()<I>(stage)` for each stage, first to last. Not during a passage.
    template <class Visit>
    void for_each_stage(Visit&& visit) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (visit.template operator()<I>(std::get<I>(stages_)), ...);
        }(std::index_sequence_for<Stages...>{});
    }
    /// Some stage has its own idea of time, so that it is asked in every run.
    static constexpr bool draws =
        ((draws_watermarks<Stages> || Stages::traits.asks_the_clock) || ...);
    /// The first stage leaves the records that come as they are.
    static constexpr bool only_reads = [] {
        if constexpr (stage_count != 0) return Stage<0>::traits.only_reads;
        return false;
    }();
    /// Before the `count` records from `records` on: the first stage may look at some of them, to
    /// bring near what they need. Returns how many may pass before it is asked again. `names` are
    /// the operators of the stages.
    template <class Record>
    [[nodiscard]] std::size_t look_ahead(const Record* records, std::size_t count,
                                         [[maybe_unused]] const std::string* names) {
        if constexpr (stage_count != 0) {
            if constexpr (Stage<0>::traits.looks_ahead) {
                auto& first = std::get<0>(stages_);
                std::size_t seen = 0;
                // It asks for keys, by a function of the user's.
                guarded(names[0], [&] {
                    seen = first.on(Coming<Record>{std::span<const Record>(records, count)});
                });
                STRID_ASSERT(seen != 0 && seen <= count);
                return seen;
            }
        }
        return count;
    }
    /// Before the records of a batch: what leaves from now on keeps the texts alive that it may
    /// point to, those of the batch and those of the stages' own.
    void keep_alive([[maybe_unused]] const message::BatchHeader& batch) {
        if constexpr (has_output) {
            if constexpr (forgets_input) {
                port_->forget_texts();
            } else {
                port_->keep_alive(batch);
            }
        }
        keep_own_alive();
    }
    /// Behind the records of a batch: what leaves until the next one comes points to the stages'
    /// own texts at most. Else a node that nothing comes to any more would hold on to its last
    /// input's.
    void let_go() {
        if constexpr (has_output) {
            port_->forget_texts();
            keep_own_alive();
        }
    }
    /// The stages' own texts besides those that the port knows.
    void keep_own_alive() {
        for_each_stage([this]<std::size_t I>(auto& stage) {
            for_each_state(stage, [this](auto& state) {
                if constexpr (requires { state.texts(); }) {
                    if (!is_held_by_output(state.texts().turn())) state.texts().keep_for_good();
                }
            });
        });
    }
    /// Where nothing is sent nothing has to hold it.
    [[nodiscard]] bool is_held_by_output([[maybe_unused]] const memory::TextReference& turn) {
        if constexpr (has_output) return port_->keep_alive_too(turn);
        return true;
    }
    /// When a stage wants to be asked though nothing came, the earliest of them; 0: none.
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        std::int64_t earliest = 0;
        const auto look = [&earliest](const auto& stage) {
            if constexpr (requires { stage.wake_at_ns(); }) {
                earliest = runtime::earlier_wake(earliest, stage.wake_at_ns());
            }
        };
        std::apply([&look](const auto&... stages) { (look(stages), ...); }, stages_);
        return earliest;
    }
    /// A stage wants nothing to be begun for the time being though there is room.
    [[nodiscard]] bool held_back() const noexcept {
        const auto held = []<class S>(const S& stage) {
            if constexpr (S::traits.holds_back) return stage.held_back();
            return false;
        };
        return std::apply([&held](const auto&... stages) { return (held(stages) || ...); },
                          stages_);
    }
    /// The sink may block.
    [[nodiscard]] bool blocks() const noexcept {
        if constexpr (stage_count != 0) {
            const auto& last = std::get<stage_count - 1>(stages_);
            if constexpr (requires { last.blocks(); }) return last.blocks();
        }
        return false;
    }
    /// Outside threads wait for the sink, and are told that it takes no more records. Any thread,
    /// also during a passage.
    void cut_off_sink() noexcept {
        if constexpr (stage_count != 0) {
            using Last = Stage<stage_count - 1>;
            if constexpr (Hears<Last, CutOff>) {
                static_assert(!kept_in_registers<Last>);
                std::get<stage_count - 1>(stages_).on(CutOff{});
            }
        }
    }
    /// The sink may refuse records, and outside threads say when no more.
    static constexpr bool awaits_outside = [] {
        if constexpr (stage_count != 0 && !has_output) {
            return requires(Stage<stage_count - 1>& last) { last.accepts(); };
        }
        return false;
    }();

    /// True while one more record may be started: the output has a spare block, or the sink
    /// accepts.
    [[nodiscard]] bool ready() { return ready(port_, stages_); }

  private:
    static constexpr bool forgets_input = (Stages::traits.forgets_input || ...);

    template <class Held>
    [[nodiscard]] static bool ready([[maybe_unused]] const OutputPort* port,
                                    [[maybe_unused]] Held& held) {
        if constexpr (has_output) {
            return port->spare();
        } else if constexpr (stage_count != 0) {
            auto& last = std::get<stage_count - 1>(held);
            if constexpr (requires { last.accepts(); }) return last.accepts();
        }
        return true;
    }

    std::tuple<Stages...> stages_;
    [[no_unique_address]] Router router_;
    std::array<Skipping, stage_count + 1> skipping_{};
    std::array<std::uint64_t, stage_count + 1> late_{};  // since it was last taken
    OutputPort* port_ = nullptr;
};

/// One run of the chain. `names` are the operators of the stages, `passed` is counted up.
template <class Router, class... Stages>
class FusedChain<Router, Stages...>::Passage {
  public:
    Passage(FusedChain& chain, const std::string* names, Passed& passed)
        : chain_(chain),
          port_(chain.port_),
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

    [[nodiscard]] bool ready() { return FusedChain::ready(port_, held_); }

    /// Passes a record from stage I on; it may be changed and moved from.
    ///
    /// Inlined whatever the compiler's budget for a file says: where a link of the chain becomes a
    /// call, the record goes through memory between two operators.
    template <std::size_t I = 0, class Record>
    [[gnu::always_inline]] void pass(Record& record) {
        if constexpr (I < stage_count) {
            try {
                const EmitFrom<I, Hook::process> emit{this};
                std::get<I>(held_).process(record, emit);
            } catch (...) {
                if constexpr (Stage<I>::traits.may_skip) {
                    if (chain_.skipping_[I].take_in()) return;
                }
                rethrow_as(names_[I], I == 0 || fans_out<Stage<I>>);
            }
        } else if constexpr (has_output) {
            chain_.router_(*port_, record);
        }
    }

    /// Passes copies of the first records to the router, as many as go at once; how many.
    template <class Record>
    [[gnu::always_inline]] std::size_t pass_some(std::span<const Record> records)
        requires(stage_count == 0 &&
                 requires(Router& router, OutputPort& port) { router.some(port, records); })
    {
        return chain_.router_.some(*port_, records);
    }

    /// The source at the head has come this far, between two records. False where none of the
    /// stages has to do with time.
    bool told(const Progress& progress) noexcept {
        const auto tell = [&progress]<class S>(S& stage) {
            if constexpr (Hears<S, SourceSaid>) stage.on(SourceSaid{progress});
            return draws_watermarks<S> || Hears<S, SourceSaid>;
        };
        std::size_t drawing = 0;
        std::apply([&](auto&... stages) { ((drawing += tell(stages) ? 1 : 0), ...); }, held_);
        return drawing != 0;
    }

    /// The input has come this far: the stages emit what that sets off while there is room, and the
    /// port learns of it. True once all have; until then to be called again with the same. `now_ns`
    /// is when the run began.
    [[nodiscard]] bool advance(const Progress& progress, std::int64_t now_ns) {
        return advance<0, Hook::event>(progress, now_ns);
    }

    /// The input has ended: the stages emit what they still hold while there is room. True once all
    /// have.
    template <std::size_t I = 0>
    [[nodiscard]] bool finish() {
        if constexpr (I < stage_count) {
            if (!tell<I, Hook::event>(Ended{})) return false;
            return finish<I + 1>();
        } else {
            return true;
        }
    }

  private:
    template <class S>
    using AtHand = std::conditional_t<kept_in_registers<S>, S, S&>;
    using Held = std::tuple<AtHand<Stages>...>;

    /// What a stage emits from: `process`, another hook, or one that a promise sets off, which is
    /// made between two records and does not wait for room.
    enum class Hook : std::uint8_t { process, event, promise };

    /// What stage I emits into (operator/contract.hpp).
    template <std::size_t I, Hook hook>
    class EmitFrom {
        using Operator = FusedChain::Stage<I>;

      public:
        explicit EmitFrom(Passage* passage) noexcept : passage_(passage) {}

        template <class Record>
        [[gnu::always_inline]] void operator()(Record&& record) const {
            static_assert(hook == Hook::process || fans_out<Operator>,
                          "an operator that emits in on(...) has the trait .emits = "
                          "Emits::any_number");
            if constexpr (keeps_late<Operator>) {
                auto result = Operator::result(std::forward<Record>(record));
                emit(result);
            } else if constexpr (std::is_same_v<std::remove_cvref_t<Record>,
                                                typename Operator::Emitted>) {
                emit(record);
            } else {
                static_assert(
                    std::is_same_v<std::remove_cvref_t<Record>, typename Operator::Emitted>,
                    "an operator emits records of the type that it says: "
                    "OperatorTypes<Arrived, Emitted>");
            }
        }
        /// More may be emitted: the output has a spare block, or the sink accepts.
        [[nodiscard]] bool room() const {
            if constexpr (hook == Hook::promise) return true;
            return passage_->ready() || passage_->refreshed();
        }
        template <std::size_t side = 0, class Record>
        void late(const Record& record, std::uint64_t count = 1) const {
            static_assert(Operator::traits.finds_late,
                          "an operator that calls emit.late() has the trait .finds_late");
            passage_->chain_.late_[I] += count;
            if constexpr (keeps_late<Operator>) {
                auto apart = Operator::template late<side>(record);
                emit(apart);
            }
        }
        /// The record that comes next breaks this promise: every stage behind is told before.
        void promise(const Progress& progress) const {
            (void)passage_->template advance<I + 1, Hook::promise>(progress, 0);
            if constexpr (has_output) passage_->port_->promise(progress);
        }

      private:
        template <class Record>
        [[gnu::always_inline]] void emit(Record& record) const {
            if constexpr (is_selective<Operator>) ++passage_->passed_[I];
            if constexpr (std::is_const_v<Record> && I + 1 != stage_count) {
                std::remove_const_t<Record> copy = record;
                passage_->template pass<I + 1>(copy);
            } else {
                passage_->template pass<I + 1>(record);
            }
        }

        Passage* passage_;
    };

    /// Stage I has one more event. True once it has emitted all that the event sets off.
    template <std::size_t I, Hook hook, class Event>
    [[nodiscard]] bool tell(const Event& event) {
        bool done = true;
        if constexpr (Answers<FusedChain::Stage<I>, Event>) {
            auto& stage = std::get<I>(held_);
            const EmitFrom<I, hook> emit{this};
            guarded(names_[I], [&] {
                if constexpr (std::is_void_v<decltype(stage.on(event, emit))>) {
                    stage.on(event, emit);
                } else {
                    done = stage.on(event, emit);
                }
            });
        }
        return done;
    }

    template <std::size_t I, Hook hook>
    [[nodiscard]] bool advance(Progress progress, std::int64_t now_ns) {
        if constexpr (I < stage_count) {
            if constexpr (draws_watermarks<FusedChain::Stage<I>>) {
                guarded(names_[I], [&] { progress = std::get<I>(held_).on(Clock{now_ns}); });
            }
            if (!tell<I, hook>(Watermark{progress.watermark, progress.idle})) return false;
            return advance<I + 1, hook>(progress, now_ns);
        } else {
            if constexpr (has_output) port_->set_progress(progress);
            return true;
        }
    }

    [[nodiscard]] bool refreshed() {
        if constexpr (has_output) return port_->refresh();
        return false;
    }

    template <std::size_t I>
    void write_back() noexcept {
        // Constructed anew because a lambda cannot be assigned.
        if constexpr (kept_in_registers<Stage<I>>) {
            std::construct_at(std::addressof(std::get<I>(chain_.stages_)), std::get<I>(held_));
        }
    }

    FusedChain& chain_;
    OutputPort* port_;  // null where there is none
    const std::string* names_;
    Passed& passed_;
    Held held_;
};

}  // namespace strid::operators
