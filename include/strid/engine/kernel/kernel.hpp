// SPDX-License-Identifier: Apache-2.0
//
// The fused loop: a head that supplies records (a source, or the batches of an input port) and the
// chain that they pass (engine/kernel/fused_chain.hpp): one function with each operator inlined.
//
// A kernel stops only between two records, when the output has no spare block, and keeps its place.
// An exception of user code becomes an OperatorError that names the operator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <strid/engine/kernel/chain_head.hpp>
#include <strid/engine/kernel/fused_chain.hpp>
#include <strid/engine/kernel/passage.hpp>
#include <strid/engine/kernel/poll_budget.hpp>
#include <strid/engine/kernel/router.hpp>
#include <strid/engine/kernel/stage_node.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/operator/source.hpp>

namespace strid::operators {

template <class Head, class Router, class... Stages>
class Kernel final : public StageNode<Head, Router, Stages...> {
    using Base = StageNode<Head, Router, Stages...>;
    using Chain = FusedChain<Router, Stages...>;
    using Passed = typename Chain::Passed;
    using Passage = typename Chain::Passage;
    using Arrived = typename Head::Arrived;
    using Base::has_output;
    using Base::has_source;
    using Base::stage_count;

  public:
    using Base::Base;

    void abandon() noexcept override {
        if (batch_ != nullptr) link_->give_back(*std::exchange(batch_, nullptr));
    }

    void create_output(const std::vector<OutputPort::SlotShape>& slots,
                       const PortSizes& sizes) override {
        if constexpr (has_output) {
            output_ = std::make_unique<OutputPort>(record_type<typename Router::Physical>(), slots,
                                                   sizes);
            output_->sample_with(split_);
            chain_.bind(*output_);
        }
    }

    void skip(std::size_t operator_index) noexcept override {
        chain_.skip(operator_index - Head::operators);
    }

    void open(runtime::Task& task, const std::stop_token& stop) override {
        if constexpr (has_source) {
            guarded(names_.front(), [&] { head_.open({this->context(0), task, stop}); });
        }
        chain_.template each_that_hears<Opened>([&]<std::size_t I>(auto& stage) {
            const Context own = this->context(Head::operators + I);
            guarded(names_[Head::operators + I], [&] { stage.on(Opened{own, task, stop}); });
        });
    }

    RunResult run(std::int64_t& clock_ns) override {
        if (ended_ && !advancing_) return finish(clock_ns);
        if constexpr (has_source) {
            if (cut_ != nullptr && !advancing_ && !is_cutting_) [[unlikely]] {
                const SnapshotCut::Wanted wanted = cut_->wanted();
                if (wanted.number != snapshots_) {
                    this->begin_snapshot(wanted.number);
                } else if (wanted.is_last) {
                    return this->wait_for_input(clock_ns);
                }
            }
        }
        if (is_cutting_) [[unlikely]] {
            if (this->end_snapshot()) return RunResult::progressed;
            refusals_.add(1);
            return this->wait_for_room(clock_ns);
        }
        if (!chain_.ready() && !(has_output && output_->refresh())) {
            refusals_.add(1);
            return this->wait_for_room(clock_ns);
        }
        if (advancing_ || chain_.held_back(this->stop_requested())) return run_time(clock_ns);
        if constexpr (has_source) {
            return run_source(clock_ns);
        } else {
            return run_batch(clock_ns);
        }
    }

    [[nodiscard]] std::int64_t wake_at_ns() const noexcept override {
        return runtime::earlier_wake(chain_.wake_at_ns(), head_.wake_at_ns());
    }
    [[nodiscard]] bool needs_own_thread() const noexcept override {
        return head_.blocks() || chain_.blocks();
    }
    [[nodiscard]] bool awaits_outside() const noexcept override {
        return Head::awaits_outside || Chain::awaits_outside;
    }
    void restore_as_ended() noexcept override {
        ended_ = restored_as_ended_ = true;
        head_.stop();  // so that no record is pushed into an inlet and left there
    }
    [[nodiscard]] double fraction_done() const noexcept override { return head_.fraction_done(); }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return head_.bytes_read(); }

  private:
    void stop_source() noexcept override { head_.stop(); }
    void cut_off_sink() noexcept override { chain_.cut_off_sink(); }

    RunResult run_source(std::int64_t& clock_ns)
        requires(has_source)
    {
        const std::int64_t start_ns = clock_ns;
        waits_.end(start_ns);
        split_.poll(start_ns);
        std::int64_t ingress_ns = start_ns;
        std::uint64_t emitted = 0;
        Passed passed{};
        auto status = SourceStatus::finished;
        if constexpr (has_output) {
            output_->begin_run(start_ns);
            output_->begin_input(start_ns);
        }
        if (Head::drains || !this->stop_requested()) {
            Passage passage{chain_, this->stage_names(), passed};
            SourceEmit<Passage, Arrived, stage_count != 0> emit{
                passage, output_.get(), counts_.front(), source_progress_, split_, start_ns};
            split_.enter_operators();
            guarded(names_.front(), [&] { status = head_.source.poll(emit, budget()); });
            emitted = emit.count();
            ingress_ns = emit.ingress_ns();
        }
        this->template notify<BatchEnds>();
        split_.leave_operators();
        if (status == SourceStatus::finished) ended_ = true;
        if (status == SourceStatus::idle) silent_until_ns_ = start_ns;
        const std::uint64_t left = this->count_records(emitted, passed);
        advance(start_ns);
        if (status != SourceStatus::more) notify_operators<Flush>();
        const bool published = publish(status != SourceStatus::more);
        if (emitted == 0) split_.drop(output_.get());
        const bool waits = status == SourceStatus::idle || status == SourceStatus::held;
        if (emitted == 0 && waits && published && !advancing_)
            return this->wait_for_input(clock_ns);
        const std::int64_t from_ns = this->poll_worked_from(start_ns, ingress_ns);
        this->end_run(clock_ns = from_ns, ingress_ns, emitted, !advancing_);
        budget_.ran(emitted, has_output ? left : 0, clock_ns - from_ns);
        return RunResult::progressed;
    }

    RunResult run_batch(std::int64_t& clock_ns)
        requires(!has_source)
    {
        if (batch_ == nullptr) {
            const auto [batch, link] = this->receive();
            if (batch == nullptr) return run_without_input(clock_ns);
            if (message::header_of(*batch).is_barrier) [[unlikely]] {
                input_.hold(*link, message::header_of(*batch));
                link->give_back(*batch);
                return RunResult::progressed;
            }
            batch_ = batch;
            link_ = link;
            position_ = 0;
            idle_published_ = false;
            split_.take(*batch);
            begin_batch(message::header_of(*batch));
        } else {
            split_.go_on();
        }
        const std::int64_t start_ns = clock_ns;
        waits_.end(start_ns);
        if constexpr (has_output) output_->begin_run(start_ns);
        auto& header = message::header_of(*batch_);
        const std::int64_t ingress_ns = header.ingress_ns;
        const std::uint32_t first = position_;
        Passed passed{};
        split_.enter_operators();
        // Acquire pairs with the release half of other readers' fetch_sub: 1 means no other reader.
        if (Chain::only_reads || batch_->references.load(std::memory_order_acquire) == 1) {
            handle<false>(header, passed);
        } else {
            handle<!Chain::only_reads>(header, passed);
        }
        split_.leave_operators();
        const std::uint64_t handled = position_ - first;
        this->count_records(handled, passed);
        if (position_ == header.count) {
            end_batch();
            advance(start_ns);
        }
        const bool idle = batch_ == nullptr && !input_.waiting();
        if (idle) notify_operators<Flush>();
        idle_published_ = publish(idle) && idle;
        this->end_run(clock_ns, ingress_ns, handled, batch_ == nullptr && !advancing_);
        link_->worked(clock_ns - start_ns, handled);
        return RunResult::progressed;
    }

    RunResult run_without_input(std::int64_t& clock_ns) {
        if (Chain::asks || input_.progress() != progress_) {
            advance(clock_ns);
            idle_published_ = false;
        }
        if (input_.is_cut() && !advancing_) [[unlikely]] {
            this->begin_snapshot(snapshots_ + 1);
            idle_published_ = false;
            return RunResult::progressed;
        }
        if (input_.exhausted()) {
            ended_ = true;
            if (!advancing_) return finish(clock_ns);
        }
        if (!idle_published_) {
            this->template notify<Flush>();
            idle_published_ = publish(true);
            if (!idle_published_ || advancing_) return RunResult::progressed;
        }
        return this->wait_for_input(clock_ns);
    }

    void begin_batch(const message::BatchHeader& header) {
        chain_.template each_that_hears<BatchBegins>([this]<std::size_t I>(auto& stage) {
            stage.on(BatchBegins{input_.watermark_of(*link_), link_->input()});
        });
        if constexpr (has_output) {
            if (header.below_watermark) output_->assert_progress_again();
            output_->begin_input(header.ingress_ns);
        }
        chain_.keep_alive(header);
        if (has_output && this->keeps_sequences_) output_->begin_sequence(header.sequence);
    }

    void end_batch() {
        notify_operators<BatchEnds>();
        const message::BatchHeader& header = message::header_of(*batch_);
        if constexpr (has_output) {
            if (this->keeps_sequences_ && header.ends_sequence) output_->end_sequence();
        }
        chain_.forget_batch_texts();
        input_.handled(*link_, header);
        link_->give_back(*std::exchange(batch_, nullptr));
    }

    /// Passes the records of the batch from `position_` on. A batch with several readers is only
    /// read: each record is copied before it is passed to a stage that may change it.
    template <bool copies>
    void handle(message::BatchHeader& header, Passed& passed) {
        auto* const records = message::records_of<Arrived>(header);
        std::uint32_t at = position_;
        try {
            Passage passage{chain_, this->stage_names(), passed};
            while (at != header.count && passage.takes()) {
                auto some = chain_.look_ahead(records + at, header.count - at, this->stage_names());
                for (; some != 0 && passage.takes(); --some, ++at) {
                    if constexpr (!copies) {
                        passage.pass(records[at]);
                    } else if constexpr (std::is_copy_constructible_v<Arrived>) {
                        Arrived copy = records[at];
                        passage.pass(copy);
                    }
                }
            }
        } catch (...) {
            this->count_records(at - position_, passed);
            position_ = at;
            throw;
        }
        position_ = at;
    }

    // ---- time ----------------------------------------------------------------------------------

    /// Passes the watermark of the input to the chain. If the output has no room for all that the
    /// stages emit, `advancing_` stays true and the next run continues there.
    void advance(std::int64_t now_ns) {
        const Progress progress = has_source ? source_progress_ : input_.progress();
        if (!Chain::asks && !advancing_ && progress == progress_) return;
        progress_ = progress;
        Passed passed{};
        split_.enter_operators();
        {
            Passage passage{chain_, this->stage_names(), passed};
            advancing_ =
                !passage.advance(progress, {now_ns, has_source ? silent_until_ns_ : now_ns});
        }
        split_.leave_operators();
        this->count_records(0, passed);
    }

    /// A run without records: continues with the output of the last watermark, or calls a stage
    /// that holds back again.
    RunResult run_time(std::int64_t& clock_ns) {
        waits_.end(clock_ns);
        split_.go_on();
        const bool in_sample = split_.on() && batch_ == nullptr;
        if constexpr (has_output) output_->begin_run(clock_ns);
        advance(clock_ns);
        idle_published_ = publish(true);
        // A sampled batch that has ended is reported before the node waits.
        if (!in_sample && idle_published_ && !advancing_ && chain_.held_back(false)) {
            return this->wait_for_input(clock_ns);
        }
        this->end_run(clock_ns, message::no_ingress, 0, batch_ == nullptr && !advancing_);
        return RunResult::progressed;
    }

    bool publish([[maybe_unused]] bool idle) {
        if constexpr (has_output) return output_->publish(idle);
        return true;
    }

    // ---- the end -------------------------------------------------------------------------------

    RunResult finish(std::int64_t clock_ns) {
        if (closed_) return RunResult::finished;
        if (this->is_saving()) return this->wait_for_input(clock_ns);  // for the last slice
        waits_.end(clock_ns);
        Passed passed{};
        const bool done = restored_as_ended_ || [&] {
            Passage passage{chain_, this->stage_names(), passed};
            return passage.finish(Clock{clock_ns});
        }();
        this->count_records(0, passed);
        if (!done) {
            const bool has_room = chain_.ready();
            (void)publish(true);
            if (passed != Passed{}) return RunResult::progressed;
            if (Chain::works_apart && has_room)
                return this->wait_for_input(clock_ns);  // for its results
            return this->wait_for_room(clock_ns);
        }
        if (!std::exchange(stages_closed_, true)) this->notify_closed();
        if constexpr (has_output) {
            if (!output_->close())
                return this->wait_for_room(clock_ns);  // a ring is full: others run
        }
        closed_ = true;
        if (cut_ != nullptr) cut_->ended(this->place_);
        return RunResult::finished;
    }

    /// In a chain that handles the event; counted as time of operators.
    template <class Event>
    void notify_operators() {
        if constexpr (Chain::template hears<Event>) {
            split_.enter_operators();
            this->template notify<Event>();
            split_.leave_operators();
        }
    }

    [[nodiscard]] std::size_t budget() const noexcept {
        if constexpr (has_output) return budget_.records(output_->room());
        return budget_.records();
    }

    using Base::advancing_;
    using Base::chain_;
    using Base::counts_;
    using Base::cut_;
    using Base::head_;
    using Base::input_;
    using Base::is_cutting_;
    using Base::names_;
    using Base::output_;
    using Base::progress_;
    using Base::refusals_;
    using Base::snapshots_;
    using Base::source_progress_;
    using Base::split_;
    using Base::waits_;

    memory::Block* batch_ = nullptr;  // the present batch
    Link* link_ = nullptr;            // and the link it came from
    std::uint32_t position_ = 0;      // its first record not yet passed
    PollBudget budget_;               // of a source
    bool idle_published_ = true;
    std::int64_t silent_until_ns_ = 0;  // when the last poll began that found nothing
    bool ended_ = false;                // no more input follows
    bool restored_as_ended_ = false;    // and has emitted all
    bool stages_closed_ = false;
    bool closed_ = false;  // and all output is sent
};

}  // namespace strid::operators
