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
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/base/assert.hpp>
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

/// It is no source, whose tasks have records that are read again.
template <class One>
inline constexpr bool is_stage = std::same_as<decltype(One::traits), const OperatorTraits>;

/// Loads the state of an operator from those of all replicas that there were, and keeps the share
/// of one. The operator, which has this name, is as it was made.
template <class One>
void load_merged(One& one, PartBefore& part, const StateShare& share, const std::string& name) {
    const One fresh = one;
    for (StateReader& reader : part.readers) {
        const auto load = [&](auto& value) { state::load(reader, value); };
        if (&reader == &part.readers.front()) {
            for_each_state(one, load);
            continue;
        }
        One other = fresh;
        for_each_state(other, load);
        guarded(name, [&] { one.merge_state(std::as_const(other)); });
    }
    part.expect_end();
    if (!part.readers.empty()) guarded(name, [&] { one.split_state(share); });
}

/// For requires_snapshots: the compiler names the type of the state, or the operator.
template <class State>
consteval bool state_is_saved() {
    static_assert(state::has_codec<State>(),
                  "requires_snapshots: a part of the state of an operator has no codec "
                  "(strid/state/codec.hpp), and its type is this State");
    return state::has_codec<State>();
}
template <class Operator>
consteval bool takes_snapshots() {
    constexpr bool takes =
        !Operator::traits.no_snapshots && !(is_stage<Operator> && Hears<Operator, TasksWanted>);
    static_assert(takes,
                  "requires_snapshots: this operator takes no snapshots, because what it "
                  "emits, or its effects, cannot be had once more");
    if constexpr (requires(Operator& one) { one.state(); }) {
        return takes && []<class... States>(std::type_identity<std::tuple<States...>>) {
            return (state_is_saved<std::remove_cvref_t<States>>() && ...);
        }(std::type_identity<decltype(std::declval<Operator&>().state())>{});
    }
    return takes;
}

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
        : Node(place), head_(head), chain_(std::move(stages), router) {
        if constexpr (requires_snapshots<>) {
            if constexpr (has_source) (void)takes_snapshots<typename Head::Source>();
            ((void)takes_snapshots<Stages>(), ...);
        }
    }

    [[nodiscard]] bool polls() const noexcept override { return has_source; }
    void bring_tasks(const RunShape& shape, runtime::Task& task,
                     std::vector<runtime::Task*>& tasks) override {
        if constexpr (has_source) {
            const Context own = context(0);
            guarded(names_.front(), [&] {
                head_.bring_tasks({own, task, shape.workers, shape.perturbed, tasks});
            });
        }
        chain_.template each_that_hears<TasksWanted>([&]<std::size_t I>(auto& stage) {
            const Context own = context(Head::operators + I);
            guarded(names_[Head::operators + I], [&] {
                stage.on(TasksWanted{own, task, shape.workers, shape.perturbed, tasks});
            });
        });
    }
    [[nodiscard]] [[gnu::cold]] std::vector<std::string> no_snapshot() const override {
        std::vector<std::string> faults;
        const auto add = [&]<class One>(std::size_t index, std::type_identity<One>) {
            if constexpr (!state_has_codec<One>) {
                faults.push_back(no_codec(names_[index], type_of_state<One>()));
            } else if constexpr (One::traits.no_snapshots) {
                faults.push_back(works_apart_of_state(names_[index]));
            } else if constexpr (is_stage<One> && Hears<One, TasksWanted>) {
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
    [[nodiscard]] [[gnu::cold]] std::vector<bool> merge_state() const override {
        if constexpr (has_source) {
            return {false, MergesState<Stages>...};  // a source divides its records itself
        } else {
            return {MergesState<Stages>...};
        }
    }
    // Cold: inlined into a unit, what runs once takes the room of what runs for each record.
    [[gnu::cold]] void restore(PartsBefore& before) override {
        if constexpr (has_codecs) {
            auto part = before.operators.begin();
            auto name = names_.begin();
            each_operator([&](auto& one) { restore_operator(one, *part++, *name++); });
            load_place(before.input, progress_);
            if constexpr (has_source) source_progress_ = progress_;
            // The output tells its consumers where the stream is before the first record.
            advancing_ = progress_ != Progress{};
        }
        notify_restored(before.operators);
    }

  protected:
    /// Saves the state, or begins to: all records before the snapshot have passed.
    [[gnu::noinline]] void begin_snapshot(std::uint64_t number) {
        is_cutting_ = true;
        snapshots_ = number;
        notify_all(SnapshotBegins{number});
        if constexpr (has_output) output_->send_records();
        if constexpr (has_codecs) {
            auto state = std::make_unique<NodeState>();
            each_operator([&](auto& one) {
                for_each_state(one, [&](const auto& value) { state->save(value); });
                state->end_part();
            });
            // Of a source the two are equal between its polls.
            STRID_ASSERT(!has_source || source_progress_ == progress_);
            save_place(std::move(state), progress_);
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

    [[gnu::noinline]] void notify_closed() { notify_all(Closed{}); }

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
    template <class One>
    void restore_operator(One& one, PartBefore& part, const std::string& name) {
        if constexpr (requires { one.state(); }) {
            state::Layouts layouts(part.type);
            if (!part.type.empty()) (void)layout_of_state<One>(layouts);
            for (StateReader& reader : part.readers) reader.use(layouts.versions());
            if constexpr (MergesState<One>) {
                if (part.is_share) return load_merged(one, part, {replica_, parallelism_}, name);
            } else if constexpr (has_state_without_keys<One>) {
                check_not_copied(part);
            }
            load_part(part, {replica_, parallelism_},
                      [&](const auto& load) { for_each_state(one, load); });
        } else {
            part.expect_end();
        }
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
