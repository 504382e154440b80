// SPDX-License-Identifier: Apache-2.0
//
// The fused loop: a head that supplies records (a source, or the batches of an input port) and the
// chain that they pass (engine/kernel/fused_chain.hpp): one function with each operator inlined.
//
// A kernel stops only between two records, when the output has no spare block, and keeps its place
// in the batch. An exception of user code becomes an OperatorError that names the operator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/engine/kernel/chain_head.hpp>
#include <strid/engine/kernel/fused_chain.hpp>
#include <strid/engine/kernel/node.hpp>
#include <strid/engine/kernel/passage.hpp>
#include <strid/engine/kernel/poll_budget.hpp>
#include <strid/engine/kernel/router.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/operator/state_size.hpp>
#include <strid/operator/source.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

template <class Head, class Router, class... Stages>
class Kernel final : public Node {
    using Chain = FusedChain<Router, Stages...>;
    using Passed = typename Chain::Passed;
    using Passage = typename Chain::Passage;
    static constexpr std::size_t stage_count = sizeof...(Stages);
    static constexpr bool has_source = Head::operators == 1;
    static constexpr bool has_output = Router::has_output;
    using Arrived = typename Head::Arrived;

  public:
    Kernel(Head head, StageList<Stages...> stages, Router router, std::vector<std::string> names,
           std::size_t replica, std::size_t parallelism)
        : Node(std::move(names), replica, parallelism),
          head_(std::move(head)),
          chain_(std::move(stages), std::move(router)) {}

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

    void bring_tasks(const RunShape& shape, runtime::Task& task,
                     std::vector<runtime::Task*>& tasks) override {
        chain_.template each_that_hears<TasksWanted>([&]<std::size_t I>(auto& stage) {
            const Context own = context(Head::operators + I);
            guarded(names_[Head::operators + I], [&] {
                stage.on(TasksWanted{own, task, shape.workers, shape.perturbed, tasks});
            });
        });
    }

    void open(runtime::Task& task, const std::stop_token& stop) override {
        if constexpr (has_source) {
            guarded(names_.front(), [&] { head_.open({context(0), task, stop}); });
        }
        chain_.template each_that_hears<Opened>([&]<std::size_t I>(auto& stage) {
            const Context own = context(Head::operators + I);
            guarded(names_[Head::operators + I], [&] { stage.on(Opened{own, task, stop}); });
        });
    }

    RunResult run(std::int64_t& clock_ns) override {
        if (ended_ && !advancing_) return finish(clock_ns);
        if constexpr (has_source) {
            if (cut_ != nullptr && !advancing_ && !is_cutting_) [[unlikely]] {
                const SnapshotCut::Wanted wanted = cut_->wanted();
                if (wanted.number != snapshots_) {
                    begin_snapshot(wanted.number);
                } else if (wanted.is_last) {
                    return wait_for_input(clock_ns);
                }
            }
        }
        if (is_cutting_) [[unlikely]]
            return go_on_with_snapshot(clock_ns);
        if (!chain_.ready() && !(has_output && output_->refresh())) {
            refusals_.add(1);
            return wait_for_room(clock_ns);
        }
        if (advancing_ || chain_.held_back(stop_requested())) return run_time(clock_ns);
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
    [[nodiscard]] bool polls() const noexcept override { return has_source; }
    [[nodiscard]] std::vector<std::string> no_snapshot() const override {
        std::vector<std::string> faults;
        const auto add = [&]<class One>(std::size_t index, std::type_identity<One>) {
            if constexpr (!state_has_codec<One>) {
                faults.push_back(no_codec(names_[index], type_of_state<One>()));
            } else if constexpr (One::traits.no_snapshots || brings_tasks<One>) {
                faults.push_back(works_apart_of_state(names_[index]));
            }
        };
        if constexpr (has_source) {
            using Source = typename Head::Source;
            if (Source::traits.no_snapshots || head_.blocks()) {
                faults.push_back(no_position(names_.front()));
            } else {
                add(0, std::type_identity<Source>{});
            }
        }
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (add(Head::operators + I, std::type_identity<Stages>{}), ...);
        }(std::index_sequence_for<Stages...>{});
        return faults;
    }
    [[nodiscard]] std::vector<std::string> types_of_state() const override {
        std::vector<std::string> types;
        if constexpr (has_source) types.push_back(type_of_state<typename Head::Source>());
        (types.push_back(type_of_state<Stages>()), ...);
        return types;
    }
    void restore_as_ended() noexcept override { ended_ = restored_as_ended_ = true; }
    void restore(StateReader& reader) override {
        if constexpr (has_codecs) {
            each_state([&reader](auto& part) { state::load(reader, part); });
            reader.expect_end();
            if constexpr (has_source) {
                guarded(names_.front(), [&] { notify_source(head_.source, Restored{}); });
            }
            notify<Restored>();
        }
    }
    void restore_share(std::vector<StateReader>& readers) override {
        if constexpr (has_codecs) {
            const KeyShare share{replica_, parallelism_};
            each_state([&](auto& part) { load_share(part, readers, share); });
            for (StateReader& reader : readers) reader.expect_end();
            notify<Restored>();
        }
    }
    [[nodiscard]] double fraction_done() const noexcept override { return head_.fraction_done(); }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return head_.bytes_read(); }

  private:
    void stop_source() noexcept override { head_.stop(); }
    void cut_off_sink() noexcept override { chain_.cut_off_sink(); }

    // ---- heads ---------------------------------------------------------------------------------

    RunResult run_source(std::int64_t& clock_ns) {
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
        if (Head::drains || !stop_requested()) {
            Passage passage{chain_, stage_names(), passed};
            SourceEmit<Passage, Arrived, stage_count != 0> emit{
                passage, output_.get(), counts_.front(), source_progress_, split_, start_ns};
            split_.enter_operators();
            guarded(names_.front(), [&] { status = head_.source.poll(emit, budget()); });
            emitted = emit.count();
            ingress_ns = emit.ingress_ns();
        }
        notify<BatchEnds>();
        split_.leave_operators();
        if (status == SourceStatus::finished) ended_ = true;
        if (status == SourceStatus::idle) silent_until_ns_ = start_ns;
        const std::uint64_t left = count_records(emitted, passed);
        advance(start_ns);
        if (status != SourceStatus::more) notify_operators<Flush>();
        const bool published = publish(status != SourceStatus::more);
        if (emitted == 0) split_.drop(output_.get());
        const bool waits = status == SourceStatus::idle || status == SourceStatus::held;
        if (emitted == 0 && waits && published && !advancing_) return wait_for_input(clock_ns);
        const std::int64_t from_ns = poll_worked_from(start_ns, ingress_ns);
        end_run(clock_ns = from_ns, ingress_ns, emitted, !advancing_);
        budget_.ran(emitted, has_output ? left : 0, clock_ns - from_ns);
        return RunResult::progressed;
    }

    RunResult run_batch(std::int64_t& clock_ns) {
        if (batch_ == nullptr) {
            const auto [batch, link] = receive();
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
        count_records(handled, passed);
        if (position_ == header.count) {
            end_batch();
            advance(start_ns);
        }
        const bool idle = batch_ == nullptr && !input_.waiting();
        if (idle) notify_operators<Flush>();
        idle_published_ = publish(idle) && idle;
        end_run(clock_ns, ingress_ns, handled, batch_ == nullptr && !advancing_);
        link_->worked(clock_ns - start_ns, handled);
        return RunResult::progressed;
    }

    RunResult run_without_input(std::int64_t& clock_ns) {
        if (Chain::asks || input_.progress() != progress_) {
            advance(clock_ns);
            idle_published_ = false;
        }
        if (input_.is_cut() && !advancing_) [[unlikely]] {
            begin_snapshot(snapshots_ + 1);
            return RunResult::progressed;
        }
        if (input_.exhausted()) {
            ended_ = true;
            if (!advancing_) return finish(clock_ns);
        }
        if (!idle_published_) {
            notify<Flush>();
            idle_published_ = publish(true);
            if (!idle_published_ || advancing_) return RunResult::progressed;
        }
        return wait_for_input(clock_ns);
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
        if (has_output && keeps_sequences_) output_->begin_sequence(header.sequence);
    }

    void end_batch() {
        notify_operators<BatchEnds>();
        const message::BatchHeader& header = message::header_of(*batch_);
        if constexpr (has_output) {
            if (keeps_sequences_ && header.ends_sequence) output_->end_sequence();
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
            Passage passage{chain_, stage_names(), passed};
            while (at != header.count && passage.takes()) {
                auto some = chain_.look_ahead(records + at, header.count - at, stage_names());
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
            count_records(at - position_, passed);
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
            Passage passage{chain_, stage_names(), passed};
            advancing_ =
                !passage.advance(progress, {now_ns, has_source ? silent_until_ns_ : now_ns});
        }
        split_.leave_operators();
        count_records(0, passed);
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
            return wait_for_input(clock_ns);
        }
        end_run(clock_ns, message::no_ingress, 0, batch_ == nullptr && !advancing_);
        return RunResult::progressed;
    }

    bool publish([[maybe_unused]] bool idle) {
        if constexpr (has_output) return output_->publish(idle);
        return true;
    }

    // ---- snapshots -----------------------------------------------------------------------------

    /// Saves the state: all records before the snapshot have passed.
    [[gnu::noinline]] void begin_snapshot(std::uint64_t number) {
        is_cutting_ = true;
        snapshots_ = number;
        idle_published_ = false;
        if constexpr (has_source) {
            guarded(names_.front(), [&] { notify_source(head_.source, SnapshotBegins{number}); });
        }
        chain_.template each_that_hears<SnapshotBegins>([&]<std::size_t I>(auto& stage) {
            guarded(names_[Head::operators + I], [&] { stage.on(SnapshotBegins{number}); });
        });
        if constexpr (has_output) output_->send_records();
        if constexpr (has_codecs) {
            StateBytes kept;
            StateWriter writer{kept};
            each_state([&writer](auto& part) { state::save(writer, part); });
            writer.flush();
            cut_->saved(place_, kept.take());
        }
    }
    /// Sends the barrier, and then goes on with the stream.
    [[gnu::noinline]] RunResult go_on_with_snapshot(std::int64_t clock_ns) {
        if constexpr (has_output) {
            if (!output_->send_barriers()) {
                refusals_.add(1);
                return wait_for_room(clock_ns);
            }
        }
        is_cutting_ = false;
        input_.release();
        return RunResult::progressed;
    }

    template <class One>
    static constexpr bool brings_tasks = Hears<One, TasksWanted>;
    /// Calls `visit` with each part of the state: that of the operators, and what the engine knows
    /// of the stream.
    template <class Visit>
    void each_state(const Visit& visit) {
        if constexpr (has_source) for_each_state(head_.source, visit);
        chain_.for_each_stage([&]<std::size_t I>(auto& stage) { for_each_state(stage, visit); });
        visit(progress_);
        visit(source_progress_);
        visit(input_);
        if constexpr (has_output) visit(*output_);
    }
    template <class One>
    static constexpr bool state_has_codec = [] {
        if constexpr (requires(One& one) { one.state(); }) {
            return []<class... States>(std::type_identity<std::tuple<States...>>) {
                return (state::has_codec<std::remove_cvref_t<States>>() && ...);
            }(std::type_identity<decltype(std::declval<One&>().state())>{});
        }
        return true;
    }();
    static constexpr bool has_codecs = [] {
        bool all = (state_has_codec<Stages> && ...);
        if constexpr (has_source) all = all && state_has_codec<typename Head::Source>;
        return all;
    }();

    // ---- the end -------------------------------------------------------------------------------

    RunResult finish(std::int64_t clock_ns) {
        if (closed_) return RunResult::finished;
        waits_.end(clock_ns);
        Passed passed{};
        const bool done = restored_as_ended_ || [&] {
            Passage passage{chain_, stage_names(), passed};
            return passage.finish(Clock{clock_ns});
        }();
        count_records(0, passed);
        if (!done) {
            const bool has_room = chain_.ready();
            (void)publish(true);
            if (passed != Passed{}) return RunResult::progressed;
            if (Chain::works_apart && has_room) return wait_for_input(clock_ns);  // for its results
            return wait_for_room(clock_ns);
        }
        if (!std::exchange(stages_closed_, true)) notify<Closed>();
        if constexpr (has_output) {
            if (!output_->close()) return wait_for_room(clock_ns);  // a ring is full: others run
        }
        closed_ = true;
        if (cut_ != nullptr) cut_->ended(place_);
        return RunResult::finished;
    }

    // ---- bookkeeping ---------------------------------------------------------------------------

    [[nodiscard]] Context context(std::size_t index) noexcept {
        return {names_[index], replica_, parallelism_, run_, &counters_[index]};
    }
    [[nodiscard]] const std::string* stage_names() const noexcept {
        return names_.data() + Head::operators;
    }
    template <class Event>
    [[gnu::noinline]] void notify() {
        chain_.template each_that_hears<Event>([&]<std::size_t I>(auto& stage) {
            guarded(names_[Head::operators + I], [&] { stage.on(Event{}); });
        });
    }

    /// In a chain that handles the event; counted as time of operators.
    template <class Event>
    void notify_operators() {
        if constexpr (Chain::template hears<Event>) {
            split_.enter_operators();
            notify<Event>();
            split_.leave_operators();
        }
    }

    /// `arrived` records came in; a stage that is not selective passes all of them, except those on
    /// which its function threw. Returns how many left the last one.
    std::uint64_t count_records(std::uint64_t arrived, const Passed& passed) {
        if constexpr (has_source) counts_.front().out.add(arrived);
        chain_.for_each_stage([&]<std::size_t I, class Stage>(Stage& stage) {
            auto& counts = counts_[Head::operators + I];
            counts.in.add(arrived);
            if constexpr (Stage::traits.finds_late) counts.late.add(chain_.take_late(I));
            if constexpr (Stage::traits.may_skip) {
                const std::uint64_t skipped = chain_.take_skipped(I);
                counts.skipped.add(skipped);
                arrived -= std::min(arrived, skipped);
            }
            if constexpr (has_sized_state<Stage>) {
                const StateSize size = state_size(stage);
                counts.keys.set(size.keys);
                counts.state_bytes.set(size.bytes);
            }
            if constexpr (is_selective<Stage>) arrived = passed[I];
            if constexpr (I + 1 < stage_count || has_output) counts.out.add(arrived);
        });
        return arrived;
    }

    [[nodiscard]] std::size_t budget() const noexcept {
        if constexpr (has_output) return budget_.records(output_->room());
        return budget_.records();
    }

    Head head_;
    Chain chain_;
    memory::Block* batch_ = nullptr;  // the present batch
    Link* link_ = nullptr;            // and the link it came from
    std::uint32_t position_ = 0;      // its first record not yet passed
    PollBudget budget_;               // of a source
    bool idle_published_ = true;
    std::int64_t silent_until_ns_ = 0;  // when the last poll began that found nothing
    Progress source_progress_;          // by a source that reports its time
    Progress progress_;                 // what the stages got last, or are getting
    bool advancing_ = false;            // they have not yet emitted all that it causes
    bool is_cutting_ = false;           // the barrier of a snapshot is to be sent
    bool ended_ = false;                // no more input follows
    bool restored_as_ended_ = false;    // and has emitted all
    bool stages_closed_ = false;
    bool closed_ = false;  // and all output is sent
};

}  // namespace strid::operators
