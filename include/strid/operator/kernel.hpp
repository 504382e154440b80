// SPDX-License-Identifier: Apache-2.0
//
// The fused loop: a head that brings records (a source, or the batches of an input port), the
// stages they pass, the router that writes what comes out. One template instance is one function
// from batch to batches, with every operator inlined into it.
//
// A kernel stops only between two records: before each it looks whether the output has a spare
// block, and keeps its place in the batch where there is none. An exception of user code becomes an
// OperatorError that names the operator; the batch at hand is released when the run is taken down.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/message/batch.hpp>
#include <strid/operator/node.hpp>
#include <strid/operator/router.hpp>
#include <strid/operator/source.hpp>

namespace strid::operators {

/// Rethrows the exception being handled as an OperatorError of the named operator; one that
/// already is an OperatorError (of an operator further down the chain) passes as it is.
[[noreturn]] void rethrow_as(const std::string& operator_name);

/// The head of a chain that polls a source.
template <class S>
struct SourceHead {
    using Arrived = typename S::record_type;
    static constexpr std::size_t operators = 1;
    S source;
};

/// The head of a chain that takes batches of `T` (for a keyed edge: of Hashed records).
template <class T>
struct InputHead {
    using Arrived = T;
    static constexpr std::size_t operators = 0;
};

template <class Head, class Router, class... Stages>
class Kernel final : public Node {
    static constexpr std::size_t stage_count = sizeof...(Stages);
    static constexpr bool has_source = Head::operators == 1;
    static constexpr bool has_output = Router::has_output;
    using Arrived = typename Head::Arrived;
    /// Records that left each selective stage during one run; lives in registers.
    using Passed = std::array<std::uint64_t, stage_count + 1>;

  public:
    Kernel(Head head, std::tuple<Stages...> stages, Router router, std::vector<std::string> names,
           std::size_t replica, std::size_t parallelism)
        : Node(std::move(names), replica, parallelism),
          head_(std::move(head)),
          stages_(std::move(stages)),
          router_(std::move(router)) {}

    void abandon() noexcept override {
        if (batch_ != nullptr) link_->give_back(*std::exchange(batch_, nullptr));
    }

    void create_output(const std::vector<OutputPort::SlotShape>& slots,
                       const PortSizes& sizes) override {
        if constexpr (has_output) {
            output_ = std::make_unique<OutputPort>(record_type<typename Router::Physical>(), slots,
                                                   sizes);
            router_.bind(*output_);
        }
    }

    void open(runtime::Task& task) override {
        if constexpr (has_source) {
            guarded(0, [&] {
                if constexpr (requires { head_.source.attach(task); }) head_.source.attach(task);
                if constexpr (requires { head_.source.open(context(0)); }) {
                    head_.source.open(context(0));
                }
            });
        }
        for_each_stage([&]<std::size_t I>(auto& stage) {
            if constexpr (requires { stage.attach(task); }) stage.attach(task);
            if constexpr (requires { stage.open(context(I)); }) {
                guarded(Head::operators + I, [&] { stage.open(context(Head::operators + I)); });
            }
        });
    }

    RunResult run() override {
        if (ended_) return finish();
        if (!ready() && !refreshed()) {
            refusals_.add(1);
            return RunResult::refused;
        }
        if constexpr (has_source) {
            return run_source();
        } else {
            return run_batch();
        }
    }

    [[nodiscard]] std::int64_t wake_at_ns() const noexcept override {
        if constexpr (requires { head_.source.wake_at_ns(); }) return head_.source.wake_at_ns();
        return 0;
    }
    [[nodiscard]] bool needs_own_thread() const noexcept override {
        if constexpr (requires { head_.source.blocks(); }) {
            if (head_.source.blocks()) return true;
        }
        if constexpr (stage_count != 0) {
            const auto& last = std::get<stage_count - 1>(stages_);
            if constexpr (requires { last.blocks(); }) return last.blocks();
        }
        return false;
    }
    [[nodiscard]] bool awaits_outside() const noexcept override {
        if constexpr (has_source && requires { head_.source.awaits_outside(); }) return true;
        if constexpr (stage_count != 0 && !has_output) {
            using Last = std::tuple_element_t<stage_count - 1, std::tuple<Stages...>>;
            return requires(Last& last) { last.accepts(); };
        }
        return false;
    }
    [[nodiscard]] double fraction_done() const noexcept override {
        if constexpr (requires { head_.source.fraction_done(); }) {
            return head_.source.fraction_done();
        }
        return -1;
    }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept override {
        if constexpr (requires { head_.source.bytes_read(); }) return head_.source.bytes_read();
        return 0;
    }

  private:
    // ---- heads ---------------------------------------------------------------------------------

    /// What a source emits into: the chain itself.
    class SourceEmit {
      public:
        SourceEmit(Kernel& kernel, Passed& passed, std::int64_t born_ns) noexcept
            : kernel_(&kernel), passed_(&passed), born_ns_(born_ns) {}

        bool operator()(Arrived&& record) {
            ++count_;
            kernel_->template pass<0>(record, *passed_);
            return kernel_->ready();
        }
        bool operator()(const Arrived& record) { return (*this)(Arrived(record)); }
        void keep_alive(const memory::TextReference& text) {
            if constexpr (has_output) kernel_->output_->keep_alive(text);
        }
        void born_at(std::int64_t ns) noexcept {
            if (count_ == 0 || ns < born_ns_) born_ns_ = ns;
            if constexpr (has_output) kernel_->output_->begin_input(ns);
        }
        void count_malformed(std::uint64_t records) noexcept {
            kernel_->counts_.front().malformed.add(records);
        }
        [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
        [[nodiscard]] std::int64_t born_ns() const noexcept { return born_ns_; }

      private:
        Kernel* kernel_;
        Passed* passed_;
        std::uint64_t count_ = 0;
        std::int64_t born_ns_;
    };

    RunResult run_source() {
        const std::int64_t start_ns = now_ns();
        Passed passed{};
        SourceEmit emit{*this, passed, start_ns};
        auto status = SourceStatus::finished;
        if constexpr (has_output) {
            output_->begin_run(start_ns);
            output_->begin_input(start_ns);
        }
        if (!stop_requested()) guarded(0, [&] { status = head_.source.poll(emit, budget()); });
        if (status == SourceStatus::finished) ended_ = true;
        if (emit.count() != 0) count_records(emit.count(), passed);
        if (status != SourceStatus::more) flush_stages();
        if constexpr (has_output) output_->publish(status != SourceStatus::more);
        if (emit.count() == 0 && status == SourceStatus::idle) return RunResult::empty;
        end_run(start_ns, emit.born_ns(), emit.count());
        return RunResult::progressed;
    }

    RunResult run_batch() {
        if (batch_ == nullptr) {
            const auto [batch, link] = input_.receive();
            if (batch == nullptr) return run_without_input();
            batch_ = batch;
            link_ = link;
            position_ = 0;
            idle_published_ = false;
            begin_batch(message::header_of(*batch));
        }
        const std::int64_t start_ns = now_ns();
        if constexpr (has_output) output_->begin_run(start_ns);
        auto& header = message::header_of(*batch_);
        const std::int64_t born_ns = header.born_ns;
        const std::uint32_t first = position_;
        Passed passed{};
        // Acquire pairs with the release half of other readers' fetch_sub: 1 means we are alone.
        if (batch_->references.load(std::memory_order_acquire) == 1) {
            handle<false>(header, passed);
        } else {
            handle<true>(header, passed);
        }
        const std::uint64_t handled = position_ - first;
        count_records(handled, passed);
        if (position_ == header.count) end_batch();
        const bool idle = batch_ == nullptr && !input_.waiting();
        if (idle) flush_stages();
        if constexpr (has_output) output_->publish(idle);
        idle_published_ = idle;
        end_run(start_ns, born_ns, handled);
        return RunResult::progressed;
    }

    RunResult run_without_input() {
        if (input_.exhausted()) {
            ended_ = true;
            return finish();
        }
        if (!idle_published_) {
            idle_published_ = true;
            flush_stages();
            if constexpr (has_output) output_->publish(true);
        }
        return RunResult::empty;
    }

    void begin_batch(const message::BatchHeader& header) {
        if constexpr (has_output) {
            output_->begin_input(header.born_ns);
            output_->keep_alive(header);
            if (keeps_sequences_) output_->begin_sequence(header.sequence);
        }
    }

    void end_batch() {
        if constexpr (has_output) {
            if (keeps_sequences_ && message::header_of(*batch_).ends_sequence) {
                output_->end_sequence();
            }
        }
        link_->give_back(*std::exchange(batch_, nullptr));
    }

    /// Passes the records of the batch from `position_` on. A batch that others read too is only
    /// looked at: each record is copied before it is passed.
    template <bool shared>
    void handle(message::BatchHeader& header, Passed& passed) {
        auto* const records = message::records_of<Arrived>(header);
        std::uint32_t at = position_;
        try {
            for (; at != header.count && ready(); ++at) {
                if constexpr (!shared) {
                    pass<0>(records[at], passed);
                } else if constexpr (std::is_copy_constructible_v<Arrived>) {
                    Arrived copy = records[at];
                    pass<0>(copy, passed);
                }
            }
        } catch (...) {
            count_records(at - position_, passed);
            position_ = at;
            throw;
        }
        position_ = at;
    }

    // ---- the chain -----------------------------------------------------------------------------

    template <std::size_t I, class Record>
    void pass(Record& record, Passed& passed) {
        if constexpr (I < stage_count) {
            guarded(Head::operators + I, [&] { std::get<I>(stages_)(record, next_of<I>(passed)); });
        } else if constexpr (has_output) {
            router_(*output_, record);
        }
    }

    template <std::size_t I>
    auto next_of(Passed& passed) {
        return [this, &passed](auto& record) {
            using Stage = std::tuple_element_t<I, std::tuple<Stages...>>;
            if constexpr (Stage::selective) ++passed[I];
            this->template pass<I + 1>(record, passed);
        };
    }

    /// True while one more record may be started.
    [[nodiscard]] bool ready() {
        if constexpr (has_output) {
            return output_->spare();
        } else {
            return accepts();
        }
    }
    [[nodiscard]] bool accepts() {
        if constexpr (stage_count != 0 && !has_output) {
            auto& last = std::get<stage_count - 1>(stages_);
            if constexpr (requires { last.accepts(); }) return last.accepts();
        }
        return true;
    }
    [[nodiscard]] bool refreshed() {
        if constexpr (has_output) return output_->refresh();
        return false;
    }

    // ---- the end -------------------------------------------------------------------------------

    RunResult finish() {
        if (closed_) return RunResult::finished;
        Passed passed{};
        const bool done = finish_from<0>(passed);
        count_records(0, passed);
        if (!done) {
            if constexpr (has_output) output_->publish(true);
            if (passed == Passed{}) return RunResult::refused;
            return RunResult::progressed;
        }
        if (!stages_closed_) {
            stages_closed_ = true;
            for_each_stage([&]<std::size_t I>(auto& stage) {
                if constexpr (requires { stage.close(); }) {
                    guarded(Head::operators + I, [&] { stage.close(); });
                }
            });
        }
        if constexpr (has_output) {
            if (!output_->close()) return RunResult::progressed;
        }
        closed_ = true;
        return RunResult::finished;
    }

    template <std::size_t I>
    bool finish_from(Passed& passed) {
        if constexpr (I < stage_count) {
            auto& stage = std::get<I>(stages_);
            auto next = next_of<I>(passed);
            const auto more_room = [this] { return ready() || refreshed(); };
            if constexpr (requires { stage.finish(next, more_room); }) {
                bool done = false;
                guarded(Head::operators + I, [&] { done = stage.finish(next, more_room); });
                if (!done) return false;
            }
            return finish_from<I + 1>(passed);
        } else {
            return true;
        }
    }

    // ---- bookkeeping ---------------------------------------------------------------------------

    [[nodiscard]] Context context(std::size_t index) const noexcept {
        return {names_[index], replica_, parallelism_};
    }

    template <class Action>
    void guarded(std::size_t operator_index, Action&& action) {
        try {
            action();
        } catch (...) {
            rethrow_as(names_[operator_index]);
        }
    }

    template <class Visit>
    void for_each_stage(Visit&& visit) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (visit.template operator()<I>(std::get<I>(stages_)), ...);
        }(std::index_sequence_for<Stages...>{});
    }

    void flush_stages() {
        for_each_stage([&]<std::size_t I>(auto& stage) {
            if constexpr (requires { stage.flush(); }) {
                guarded(Head::operators + I, [&] { stage.flush(); });
            }
        });
    }

    /// `arrived` records came in; a stage that is not selective lets all of them through.
    void count_records(std::uint64_t arrived, const Passed& passed) {
        if constexpr (has_source) counts_.front().out.add(arrived);
        for_each_stage([&]<std::size_t I>(auto& stage) {
            auto& counts = counts_[Head::operators + I];
            counts.in.add(arrived);
            if constexpr (std::remove_cvref_t<decltype(stage)>::selective) arrived = passed[I];
            if constexpr (I + 1 < stage_count || has_output) counts.out.add(arrived);
        });
    }

    void end_run(std::int64_t start_ns, std::int64_t born_ns, std::uint64_t records) {
        const std::int64_t end = now_ns();
        busy_ns_.add(static_cast<std::uint64_t>(end - start_ns));
        batches_.add(1);
        if (records != 0 && born_ns != message::never_born) {
            latency_.record(end - born_ns, records);
        }
    }

    /// Records per poll: enough to fill a good part of a batch for each place they may go to.
    [[nodiscard]] std::size_t budget() const noexcept {
        if constexpr (has_output) {
            return std::clamp<std::size_t>(256 * output_->slot_count(), 512, 8192);
        }
        return 1024;
    }

    Head head_;
    std::tuple<Stages...> stages_;
    [[no_unique_address]] Router router_;
    memory::Block* batch_ = nullptr;  // the batch at hand
    Link* link_ = nullptr;            // and where it came from
    std::uint32_t position_ = 0;      // its first record not yet passed
    bool idle_published_ = true;
    bool ended_ = false;  // nothing more comes in
    bool stages_closed_ = false;
    bool closed_ = false;  // and everything is out
};

}  // namespace strid::operators
