// SPDX-License-Identifier: Apache-2.0
//
// A node with the head and the stages of its fused chain: their events, and their state as
// snapshots save it. The loop over the records is the kernel's (engine/kernel/kernel.hpp).
//
// The state is that of the source, those of the stages, and what the engine knows of the place in
// the stream.
//
// Threads: only the task of the node, or before the first run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/kernel/chain_head.hpp>
#include <strid/engine/kernel/fused_chain.hpp>
#include <strid/engine/kernel/node.hpp>
#include <strid/engine/kernel/snapshot_cut.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/operator/key_groups.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/operator/state_size.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/source.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

template <class One>
inline constexpr bool state_has_codec = [] {
    if constexpr (requires(One& one) { one.state(); }) {
        return []<class... States>(std::type_identity<std::tuple<States...>>) {
            return (state::has_codec<std::remove_cvref_t<States>>() && ...);
        }(std::type_identity<decltype(std::declval<One&>().state())>{});
    }
    return true;
}();

template <class Part>
inline constexpr bool is_divided = LoadsItsShare<Part> || LoadedByShare<Part>;
/// No part of its state is divided by key.
template <class One>
inline constexpr bool has_state_without_keys = [] {
    if constexpr (requires(One& one) { one.state(); }) {
        return []<class... States>(std::type_identity<std::tuple<States...>>) {
            return sizeof...(States) != 0 && !(is_divided<std::remove_cvref_t<States>> || ...);
        }(std::type_identity<decltype(std::declval<One&>().state())>{});
    }
    return false;
}();

template <class Head, class Router, class... Stages>
class StageNode : public Node {
  protected:
    using Chain = FusedChain<Router, Stages...>;
    using Passed = typename Chain::Passed;
    static constexpr std::size_t stage_count = sizeof...(Stages);
    static constexpr bool has_source = Head::operators == 1;
    static constexpr bool has_output = Router::has_output;

  public:
    StageNode(const Head& head, StageList<Stages...>&& stages, const Router& router,
              const NodePlace& place)
        : Node(place), head_(head), chain_(std::move(stages), router) {}

    [[nodiscard]] bool polls() const noexcept override { return has_source; }
    [[nodiscard]] [[gnu::cold]] std::vector<std::string> no_snapshot() const override {
        std::vector<std::string> faults;
        const auto add = [&]<class One>(std::size_t index, std::type_identity<One>) {
            if constexpr (!state_has_codec<One>) {
                faults.push_back(no_codec(names_[index], type_of_state<One>()));
            } else if constexpr (One::traits.no_snapshots) {
                faults.push_back(works_apart_of_state(names_[index]));
            } else if constexpr (Hears<One, TasksWanted>) {
                faults.push_back(works_apart_of_state(names_[index]));
            }
        };
        if constexpr (has_source) {
            using Source = typename Head::Source;
            if (Source::traits.no_snapshots || (head_.blocks() && !head_.is_journalled())) {
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
    [[nodiscard]] [[gnu::cold]] std::vector<std::string> types_of_state(
        const std::vector<std::string>& stored) const override {
        std::vector<std::string> types;
        const auto add = [&]<class One>(std::type_identity<One>) {
            state::Layouts layouts(stored.empty() ? std::string_view{} : stored[types.size()]);
            types.push_back(layout_of_state<One>(layouts));
        };
        if constexpr (has_source) add(std::type_identity<typename Head::Source>{});
        (add(std::type_identity<Stages>{}), ...);
        return types;
    }
    // Cold: inlined into a unit, what runs once takes the room of what runs for each record.
    [[gnu::cold]] void restore(PartsBefore& before) override {
        if constexpr (has_codecs) {
            auto part = before.operators.begin();
            each_operator([&]<class One>(One& one) {
                if constexpr (has_state_without_keys<One>) check_not_copied(*part);
                if constexpr (requires { one.state(); }) {
                    state::Layouts layouts(part->type);
                    if (!part->type.empty()) (void)layout_of_state<One>(layouts);
                    for (StateReader& reader : part->readers) reader.use(layouts.versions());
                    load_part(*part, {replica_, parallelism_},
                              [&](const auto& load) { for_each_state(one, load); });
                } else {
                    part->expect_end();
                }
                ++part;
            });
            load_place(before.input, progress_, source_progress_);
            // The output tells its consumers where the stream is before the first record.
            advancing_ = progress_ != Progress{};
        }
        notify_restored(before.operators);
    }

  protected:
    /// Saves the state: all records before the snapshot have passed.
    [[gnu::noinline]] void begin_snapshot(std::uint64_t number) {
        is_cutting_ = true;
        snapshots_ = number;
        notify_all(SnapshotBegins{number});
        if constexpr (has_output) output_->send_records();
        if constexpr (has_codecs) {
            NodeState state;
            each_operator([&](auto& one) {
                for_each_state(one, [&](auto& value) { state::save(state.writer(), value); });
                state.end_part();
            });
            save_place(state, progress_, source_progress_);
        } else {
            cut_->saved(place_, {});
        }
    }
    /// Sends the barrier; false while there is no room. Then the stream goes on.
    [[gnu::noinline]] [[nodiscard]] bool end_snapshot() {
        if constexpr (has_output) {
            if (!output_->send_barriers()) return false;
        }
        is_cutting_ = false;
        input_.release();
        return true;
    }

    [[nodiscard]] Context context(std::size_t index) noexcept {
        return {names_[index], replica_, parallelism_, run_, &counters_[index]};
    }
    [[nodiscard]] const std::string* stage_names() const noexcept {
        return names_.data() + Head::operators;
    }
    template <class Event>
    [[gnu::noinline]] void notify() {
        notify_stages(Event{});
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

    Head head_;
    Chain chain_;
    Progress source_progress_;  // by a source that reports its time
    Progress progress_;         // what the stages got last, or are getting
    bool advancing_ = false;    // they have not yet emitted all that it causes
    bool is_cutting_ = false;   // the barrier of a snapshot is to be sent

  private:
    /// Without, the node takes no part in snapshots.
    static constexpr bool has_codecs = [] {
        bool all = (state_has_codec<Stages> && ...);
        if constexpr (has_source) all = all && state_has_codec<typename Head::Source>;
        return all;
    }();

    template <class Event>
    void notify_stages(const Event& event) {
        chain_.template each_that_hears<Event>([&]<std::size_t I>(auto& stage) {
            guarded(names_[Head::operators + I], [&] { stage.on(event); });
        });
    }
    template <class Event>
    void notify_all(const Event& event) {
        if constexpr (has_source) {
            guarded(names_.front(), [&] { notify_source(head_.source, event); });
        }
        notify_stages(event);
    }
    /// Those that begin anew are as they were opened.
    void notify_restored(const std::vector<PartBefore>& parts) {
        if constexpr (has_source) {
            if (!parts.front().readers.empty()) {
                guarded(names_.front(), [&] { notify_source(head_.source, Restored{}); });
            }
        }
        chain_.template each_that_hears<Restored>([&]<std::size_t I>(auto& stage) {
            if (parts[Head::operators + I].readers.empty()) return;
            guarded(names_[Head::operators + I], [&] { stage.on(Restored{}); });
        });
    }
    template <class Visit>
    void each_operator(const Visit& visit) {
        if constexpr (has_source) visit(head_.source);
        chain_.for_each_stage([&]<std::size_t I>(auto& stage) { visit(stage); });
    }
    /// Replicas that are more than before would all go on from the state of one.
    void check_not_copied(const PartBefore& part) const {
        if (part.is_share && part.readers.size() == 1 && parallelism_ > 1) {
            refuse_other_replicas("one replica had all of it");
        }
    }
};

}  // namespace strid::operators
