// SPDX-License-Identifier: Apache-2.0
//
// One run of a chain (engine/kernel/fused_chain.hpp): records and events pass its operators, the
// stages.
//
// A passage works on its own copy of every stage that is small and trivially copyable, and writes
// it back at its end: the sum of a sink, or the counter of a map, stays in registers from record to
// record (note 0004). All other stages (a table by key, a file) are used in place.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <strid/base/watermark.hpp>
#include <strid/engine/kernel/fused_chain.hpp>
#include <strid/engine/kernel/output_port.hpp>
#include <strid/engine/kernel/stage_list.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/operator/late_apart.hpp>
#include <strid/operator/contract.hpp>

namespace strid::operators {

/// One run of the chain. `names` are the operators of the stages; `passed` counts their records.
template <class Router, class... Stages>
class FusedChain<Router, Stages...>::Passage {
  public:
    Passage(FusedChain& chain, const std::string* names, Passed& passed)
        : chain_(chain),
          port_(chain.port_),
          names_(names),
          passed_(passed),
          held_(chain.stages_.template held_as<AtHand<Stages>...>()) {}
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;
    ~Passage() {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (write_back<I>(), ...);
        }(std::index_sequence_for<Stages...>{});
    }

    [[nodiscard]] bool ready() { return FusedChain::ready(port_, held_); }
    /// The same, and the first stage has room for one more.
    [[nodiscard]] bool takes() {
        if constexpr (works_apart) {
            if (stage_at<0>(held_).held_back()) return false;
        }
        return ready();
    }

    /// Passes a record from stage I on; it may be changed and moved from.
    ///
    /// Always inlined: if a link of the chain becomes a call, the record goes through memory
    /// between two operators.
    template <std::size_t I = 0, class Record>
    [[gnu::always_inline]] void pass(Record& record) {
        if constexpr (I < stage_count) {
            try {
                const EmitFrom<I, Hook::process> emit{this};
                stage_at<I>(held_).process(record, emit);
            } catch (...) {
                leave_out_or_rethrow<I>(chain_, names_);
            }
        } else if constexpr (has_output) {
            chain_.router_(*port_, record);
        }
    }

    /// Passes copies of the first records to the router, as many as go at once; returns how many.
    template <class Record>
    [[gnu::always_inline]] std::size_t pass_some(std::span<const Record> records)
        requires(stage_count == 0 &&
                 requires(Router& router, OutputPort& port) { router.some(port, records); })
    {
        return chain_.router_.some(*port_, records);
    }

    /// The source at the head has this progress, between two records. False if no stage uses time.
    bool on_progress(const Progress& progress) noexcept {
        if constexpr (FusedChain::template hears<SourceProgress>) {
            held_.each([&progress]<std::size_t I, class S>(S& stage) {
                if constexpr (Hears<S, SourceProgress>) stage.on(SourceProgress{progress});
            });
        }
        return ((draws_watermarks<Stages> || Hears<Stages, SourceProgress>) || ...);
    }

    /// The input has this progress: the stages emit what it causes while there is room, and the
    /// port gets the new watermark. True once all have; until then call it again with the same
    /// progress. `clock` is of when the run began.
    [[nodiscard]] bool advance(const Progress& progress, const Clock& clock) {
        return advance<0, Hook::event>(progress, clock);
    }

    /// The input has ended: the stages emit the records they hold while there is room, and those
    /// behind a stage that draws watermarks get its last one before. True once all have.
    template <std::size_t I = 0>
    [[nodiscard]] bool finish(const Clock& clock) {
        if constexpr (I < stage_count) {
            if (!notify<I, Hook::event>(Ended{})) return false;
            if constexpr (draws_watermarks<Stage<I>> && Hears<Stage<I>, Ended>) {
                if (!advance<I, Hook::event>({}, clock)) return false;
            }
            return finish<I + 1>(clock);
        } else {
            return true;
        }
    }

  private:
    template <class S>
    using AtHand = std::conditional_t<kept_in_registers<S>, S, S&>;
    using Held = StageList<AtHand<Stages>...>;

    /// The hook from which a stage emits: `process`, another hook, or one that is called because a
    /// stage asserts its progress, between two records: that one does not wait for room.
    enum class Hook : std::uint8_t { process, event, progress };

    /// The emitter of stage I (operator/contract.hpp).
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
        /// There is room to emit more: the output has a spare block, or the sink accepts.
        [[nodiscard]] bool room() const {
            if constexpr (hook == Hook::progress) return true;
            return passage_->ready() || passage_->refreshed();
        }
        template <std::size_t side = 0, class Record>
        void late(const Record& record, std::uint64_t count = 1) const {
            static_assert(Operator::traits.finds_late,
                          "an operator that calls emit.late() has the trait .finds_late");
            count_late(passage_->chain_, count);
            if constexpr (keeps_late<Operator>) late_apart<side>(passage_, record);
        }
        /// The function of the operator threw the exception being handled, on one record.
        void failed() const {
            static_assert(Operator::traits.may_skip,
                          "an operator that calls emit.failed() has the trait .may_skip");
            leave_out_or_rethrow<I>(passage_->chain_, passage_->names_);
        }
        /// The next record is below this watermark: every stage behind gets the watermark first.
        void assert_progress(const Progress& progress) const {
            assert_progress(passage_, progress);
        }

      private:
        // Rare: out of line. Not by a pointer to this object, which would then be in memory.
        [[gnu::noinline, gnu::cold]] static void count_late(FusedChain& chain,
                                                            std::uint64_t count) noexcept {
            chain.late_[I] += count;
        }
        template <std::size_t side, class Record>
        [[gnu::noinline, gnu::cold]] static void late_apart(Passage* passage,
                                                            const Record& record) {
            auto apart = Operator::template late<side>(record);
            EmitFrom{passage}.emit(apart);
        }
        [[gnu::noinline, gnu::cold]] static void assert_progress(Passage* passage,
                                                                 const Progress& progress) {
            (void)passage->template advance<I + 1, Hook::progress>(progress, Clock{0});
            if constexpr (has_output) passage->port_->assert_progress(progress);
        }

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

    /// Handles an exception of stage I. Out of line, to keep the loop small, and without the
    /// passage, whose copies of stages are in registers.
    template <std::size_t I>
    [[gnu::noinline, gnu::cold]] static void leave_out_or_rethrow(FusedChain& chain,
                                                                  const std::string* names) {
        if constexpr (FusedChain::Stage<I>::traits.may_skip) {
            if (chain.skipping_[I].take_in()) return;
        }
        rethrow_as(names[I], I == 0 || fans_out<FusedChain::Stage<I>>);
    }

    /// Passes an event to stage I. True once it has emitted all that the event causes.
    template <std::size_t I, Hook hook, class Event>
    [[nodiscard]] bool notify(const Event& event) {
        bool done = true;
        if constexpr (Hears<FusedChain::Stage<I>, Event>) {
            auto& stage = stage_at<I>(held_);
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
    [[nodiscard]] bool advance(Progress progress, const Clock& clock) {
        if constexpr (I < stage_count) {
            if constexpr (draws_watermarks<FusedChain::Stage<I>>) {
                guarded(names_[I], [&] { progress = stage_at<I>(held_).on(clock); });
            }
            if (!notify<I, hook>(Watermark{progress.watermark, progress.idle})) return false;
            if constexpr (has<FusedChain::Stage<I>, Has::passed>) {
                progress = stage_at<I>(held_).passed();
            }
            return advance<I + 1, hook>(progress, clock);
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
        if constexpr (kept_in_registers<Stage<I>> && !std::is_empty_v<Stage<I>>) {
            std::construct_at(std::addressof(stage_at<I>(chain_.stages_)), stage_at<I>(held_));
        }
    }

    FusedChain& chain_;
    OutputPort* port_;  // null where there is none
    const std::string* names_;
    Passed& passed_;
    Held held_;
};

}  // namespace strid::operators
