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
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/kernel/chain_head.hpp>
#include <strid/engine/kernel/fused_chain.hpp>
#include <strid/engine/kernel/node.hpp>
#include <strid/engine/kernel/operator_table.hpp>
#include <strid/engine/kernel/passage.hpp>
#include <strid/engine/kernel/router.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/operator/state_size.hpp>
#include <strid/operator/source.hpp>

namespace strid::operators {

template <class Head, class Router, class... Stages>
class Kernel final : public Node {
    using Chain = FusedChain<Router, Stages...>;
    using Passed = typename Chain::Passed;
    using Passage = typename Chain::Passage;
    using Arrived = typename Head::Arrived;
    static constexpr std::size_t stage_count = sizeof...(Stages);
    static constexpr bool has_source = Head::operators == 1;
    static constexpr bool has_output = Router::has_output;

    static constexpr std::uint8_t bit(StageEvent event, bool hears) noexcept {
        return hears ? static_cast<std::uint8_t>(event) : std::uint8_t{0};
    }
    static constexpr NodeTraits node_traits = {
        .polls = has_source,
        .drains = Head::drains,
        .awaits_outside = Head::awaits_outside || Chain::awaits_outside,
        .may_refuse = Chain::may_refuse,
        .may_hold_back = Chain::may_hold_back,
        .works_apart = Chain::works_apart,
        .asks = Chain::asks,
        .forgets_input = Chain::forgets_input,
        .hears = bit(StageEvent::batch_begins, Chain::template hears<BatchBegins>) |
                 bit(StageEvent::batch_ends, Chain::template hears<BatchEnds>) |
                 bit(StageEvent::flush, Chain::template hears<Flush>) |
                 bit(StageEvent::keep_texts, Chain::has_own_texts)};

  public:
    Kernel(const Head& head, StageList<Stages...>&& stages, const Router& router,
           const NodePlace& place)
        : Node(place, node_traits), head_(head), chain_(std::move(stages), router) {
        if constexpr (requires_snapshots<>) {
            if constexpr (has_source) (void)takes_snapshots<typename Head::Source>();
            ((void)takes_snapshots<Stages>(), ...);
        }
        if constexpr (has_source) {
            add({std::addressof(head_.source), &operator_table<typename Head::Source>});
        }
        chain_.each_node_operator([this](const NodeOperator& stage) { add(stage); });
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

  private:
    Poll poll(std::int64_t start_ns, [[maybe_unused]] std::size_t budget) override {
        Poll polled{.ingress_ns = start_ns};
        if constexpr (has_source) {
            Passed passed{};
            {
                Passage passage{chain_, stage_names(), passed};
                SourceEmit<Passage, Arrived, stage_count != 0> emit{
                    passage, output_.get(), counts_.front(), source_progress_, split_, start_ns};
                guarded(names_.front(), [&] { polled.status = head_.source.poll(emit, budget); });
                polled.emitted = emit.count();
                polled.ingress_ns = emit.ingress_ns();
            }
            polled.left = count_records(polled.emitted, passed);
        }
        return polled;
    }

    void pass_batch([[maybe_unused]] message::BatchHeader& header) override {
        if constexpr (!has_source) {
            // Acquire pairs with the release half of other readers' fetch_sub: 1 means no other
            // reader.
            if (Chain::only_reads || batch_->references.load(std::memory_order_acquire) == 1) {
                pass_records<false>(header);
            } else {
                pass_records<!Chain::only_reads>(header);
            }
        }
    }
    /// A batch with several readers is only read: each record is copied before it is passed to a
    /// stage that may change it.
    template <bool copies>
    void pass_records(message::BatchHeader& header) {
        auto* const records = message::records_of<Arrived>(header);
        Passed passed{};
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
        count_records(at - position_, passed);
        position_ = at;
    }

    bool is_ready() override { return chain_.ready(); }
    [[nodiscard]] bool is_held_back(bool stopped) const override {
        return chain_.held_back(stopped);
    }

    bool advance_stages(const Clock& clock) override {
        Passed passed{};
        bool done = false;
        {
            Passage passage{chain_, stage_names(), passed};
            done = passage.advance(progress_, clock);
        }
        count_records(0, passed);
        return done;
    }

    Finish finish_stages(const Clock& clock) override {
        Passed passed{};
        bool done = false;
        {
            Passage passage{chain_, stage_names(), passed};
            done = passage.finish(clock);
        }
        count_records(0, passed);
        return {done, passed != Passed{}};
    }

    void notify(StageEvent event) override {
        switch (event) {
            case StageEvent::batch_begins:
                return send(BatchBegins{input_.watermark_of(*link_), link_->input()});
            case StageEvent::batch_ends:
                return send(BatchEnds{});
            case StageEvent::flush:
                return send(Flush{});
            case StageEvent::keep_texts:
                return chain_.keep_own_alive();
        }
    }
    template <class Event>
    void send([[maybe_unused]] const Event& event) {
        chain_.template each_that_hears<Event>([&]<std::size_t I>(auto& stage) {
            guarded(names_[Head::operators + I], [&] { stage.on(event); });
        });
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
    [[nodiscard]] const std::string* stage_names() const noexcept {
        return names_.data() + Head::operators;
    }

    Head head_;
    Chain chain_;
};

}  // namespace strid::operators
