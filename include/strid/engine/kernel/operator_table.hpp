// SPDX-License-Identifier: Apache-2.0
//
// An operator of a node outside the loop over the records: the events that come once in a run, the
// members that the engine asks, and the state. A node calls these functions without knowing the
// class of the operator, so that they are compiled once for a class and not for every chain that
// the class is a part of.
//
// Threads: as the contract says of each event and member (operator/contract.hpp).
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/state_share.hpp>
#include <strid/engine/kernel/snapshot_cut.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/engine/operator/key_groups.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/operator/state_size.hpp>
#include <strid/operator/contract.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/codec.hpp>

namespace strid {
class ColdStores;  // state/cold_store.hpp
}

namespace strid::operators {

/// `one` is the operator. A function is null where the class has no such hook or member, or no
/// state that it could save.
struct OperatorTable {
    void (*bring_tasks)(void* one, const TasksWanted& wanted);
    void (*open)(void* one, const Opened& opened);
    void (*begin_snapshot)(void* one, const SnapshotBegins& snapshot);
    void (*restored)(void* one, const Restored& restored);
    void (*close)(void* one, const Closed& closed);
    void (*stop)(void* one, const Stopped& stopped);
    void (*cut_off)(void* one, const CutOff& cut_off);

    std::int64_t (*wake_at_ns)(const void* one);
    bool (*blocks)(const void* one);
    bool (*is_journalled)(const void* one);
    double (*fraction_done)(const void* one);
    std::uint64_t (*bytes_read)(const void* one);

    void (*save)(void* one, NodeState& state);
    void (*load)(void* one, PartBefore& part, const KeyShare& share);
    /// Where the states of several replicas are merged.
    void (*load_merged)(void* one, PartBefore& part, const KeyShare& share,
                        const std::string& name);
    std::string (*type)();
    std::string (*layout)(state::Layouts& layouts);
    /// Where a part of its state is that snapshots have as checkpoints.
    const ColdStores& (*cold_stores)(const void* one);

    bool has_codec;         ///< Each part of the state has one, or there is no state.
    bool allows_snapshots;  ///< By its traits, and no task of its own changes its state.
    /// Another number of replicas goes on from its state, though that is not by key. False of a
    /// source, which divides its records itself.
    bool merges_state;
    bool has_state_without_keys;
};

template <class One>
concept NamesState = requires(One& one) { one.state(); };

template <class One>
inline constexpr bool state_has_codec = [] {
    if constexpr (NamesState<One>) {
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
    if constexpr (NamesState<One>) {
        return []<class... States>(std::type_identity<std::tuple<States...>>) {
            return sizeof...(States) != 0 && !(is_divided<std::remove_cvref_t<States>> || ...);
        }(std::type_identity<decltype(std::declval<One&>().state())>{});
    }
    return false;
}();

/// It is no source, whose tasks have records that are read again.
template <class One>
inline constexpr bool is_stage = std::same_as<decltype(One::traits), const OperatorTraits>;

/// Its traits allow snapshots, and no task of its own changes its state.
template <class One>
inline constexpr bool allows_snapshots =
    !One::traits.no_snapshots && !(is_stage<One> && Hears<One, TasksWanted>);

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
    static_assert(allows_snapshots<Operator>,
                  "requires_snapshots: this operator takes no snapshots, because what it "
                  "emits, or its effects, cannot be had once more");
    if constexpr (NamesState<Operator>) {
        return allows_snapshots<Operator> &&
               []<class... States>(std::type_identity<std::tuple<States...>>) {
                   return (state_is_saved<std::remove_cvref_t<States>>() && ...);
               }(std::type_identity<decltype(std::declval<Operator&>().state())>{});
    }
    return allows_snapshots<Operator>;
}

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

/// The class's hook for the event.
template <class One, class Event>
[[nodiscard]] constexpr auto hook() -> void (*)(void*, const Event&) {
    if constexpr (Hears<One, Event>) {
        return [](void* one, const Event& event) { static_cast<One*>(one)->on(event); };
    } else {
        return nullptr;
    }
}

template <class One>
constexpr void add_members(OperatorTable& table) {
    if constexpr (has<One, Has::wake_at_ns>) {
        table.wake_at_ns = [](const void* one) {
            return static_cast<const One*>(one)->wake_at_ns();
        };
    }
    if constexpr (has<One, Has::blocks>) {
        table.blocks = [](const void* one) { return static_cast<const One*>(one)->blocks(); };
    }
    if constexpr (has<One, Has::is_journalled>) {
        table.is_journalled = [](const void* one) {
            return static_cast<const One*>(one)->is_journalled();
        };
    }
    if constexpr (has<One, Has::fraction_done>) {
        table.fraction_done = [](const void* one) {
            return static_cast<const One*>(one)->fraction_done();
        };
    }
    if constexpr (has<One, Has::bytes_read>) {
        table.bytes_read = [](const void* one) {
            return static_cast<const One*>(one)->bytes_read();
        };
    }
}

template <class One>
constexpr void add_state(OperatorTable& table) {
    table.type = type_of_state<One>;
    table.layout = layout_of_state<One>;
    if constexpr (requires(const One& one) { one.cold_stores(); }) {
        table.cold_stores = [](const void* one) -> const ColdStores& {
            return static_cast<const One*>(one)->cold_stores();
        };
    }
    if constexpr (state_has_codec<One>) {
        table.save = [](void* one, NodeState& state) {
            for_each_state(*static_cast<One*>(one),
                           [&state](const auto& value) { state.save(value); });
        };
        table.load = [](void* one, PartBefore& part, const KeyShare& share) {
            load_part(part, share,
                      [one](const auto& load) { for_each_state(*static_cast<One*>(one), load); });
        };
        if constexpr (MergesState<One>) {
            table.load_merged = [](void* one, PartBefore& part, const KeyShare& share,
                                   const std::string& name) {
                load_merged(*static_cast<One*>(one), part, {share.replica, share.replicas}, name);
            };
        }
    }
}

template <class One>
inline constexpr OperatorTable operator_table = [] {
    OperatorTable table{};
    table.bring_tasks = hook<One, TasksWanted>();
    table.open = hook<One, Opened>();
    table.begin_snapshot = hook<One, SnapshotBegins>();
    table.restored = hook<One, Restored>();
    table.close = hook<One, Closed>();
    table.stop = hook<One, Stopped>();
    table.cut_off = hook<One, CutOff>();
    add_members<One>(table);
    if constexpr (NamesState<One>) add_state<One>(table);
    table.has_codec = state_has_codec<One>;
    table.allows_snapshots = allows_snapshots<One>;
    table.merges_state = is_stage<One> && MergesState<One>;
    table.has_state_without_keys = has_state_without_keys<One>;
    return table;
}();

}  // namespace strid::operators
