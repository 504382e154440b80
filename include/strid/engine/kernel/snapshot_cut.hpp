// SPDX-License-Identifier: Apache-2.0
//
// How the nodes of a run take a snapshot together. The run asks for one; the node of each source
// then stops between two polls, saves its state, sends a barrier behind its records over every
// link, and goes on. A node that has the barrier from each open link saves its state in turn, and
// passes the barrier on. No record that follows a barrier has changed a saved state, and none that
// came before it is missing: the saved states are those of a run that had read so much of each
// source and no more.
//
// A large table by key is saved in slices behind the barrier, between the batches of its node
// (engine/operator/slices.hpp): the state that is delivered is that of the barrier all the same. Of
// such a table a snapshot may have what has changed since the one before, and no more.
//
// Invariant: a node saves its state once for a snapshot, or ends before it would; then its state is
// that of a node that has ended.
//
// Threads: ask() by one thread; the rest by the tasks of the nodes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <strid/engine/base/lambda_numbers.hpp>
#include <strid/engine/base/type_name.hpp>
#include <strid/engine/operator/key_groups.hpp>
#include <strid/engine/operator/slices.hpp>
#include <strid/engine/state/layouts.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/codec.hpp>
#include <strid/state/snapshot_folder.hpp>

namespace strid::operators {

/// The state of a node. With other numbers of replicas operators are fused in another way: each
/// finds its part by its name.
struct SavedNode {
    StateBytes bytes = {};  ///< A part for each operator, and one for the input of the node.
    std::vector<std::uint64_t> operator_bytes = {};  ///< Of the parts of the operators.
    std::vector<SnapshotTable> tables = {};
};

/// Receives the states of the nodes. A derived class stores them.
class SnapshotCut {
  public:
    virtual ~SnapshotCut() = default;

    /// The number of the snapshot that the sources are asked for; 0: none so far. Behind the last
    /// one no source emits a record.
    struct Wanted {
        std::uint64_t number = 0;
        bool is_last = false;
        Saves saves = Saves::all;  ///< Changes are those since the number before.
    };
    [[nodiscard]] Wanted wanted() const noexcept {
        // Relaxed: it orders nothing, and a source that does not see it yet is woken. A node that
        // has a barrier sees what the sources have seen: it is the same atomic object.
        const std::uint64_t word = wanted_.load(std::memory_order_relaxed);
        return {word >> 2U, (word & 1U) != 0, (word & 2U) != 0 ? Saves::changes : Saves::all};
    }
    /// The next snapshot is asked for. Not before the one before it is complete.
    void ask(const Wanted& wanted) noexcept {
        wanted_.store(wanted.number << 2U | (wanted.saves == Saves::changes ? 2U : 0U) |
                          (wanted.is_last ? 1U : 0U),
                      std::memory_order_relaxed);
    }

    /// The state of a node, by its place among the nodes of the run. Any thread.
    virtual void saved(std::size_t node, SavedNode state) = 0;
    /// The node has ended: it processes no record any more. Any thread.
    virtual void ended(std::size_t node) noexcept = 0;
    /// How much a node saves between two batches.
    [[nodiscard]] virtual SliceSize slice_size() const noexcept { return {}; }

  private:
    std::atomic<std::uint64_t> wanted_{0};
};

/// The parts of a node whose operators have so many bytes; the last one is that of its input.
/// Throws StateError.
[[nodiscard]] std::vector<std::span<const std::byte>> parts_of_state(
    StateBytes& state, std::span<const std::uint64_t> operator_bytes);

/// The state of a node while it is saved: its parts, one behind the other. Tables that are saved in
/// slices are complete behind the last slice only.
class NodeState {
  public:
    explicit NodeState(Saves saves = Saves::all);
    NodeState(const NodeState&) = delete;
    NodeState& operator=(const NodeState&) = delete;
    ~NodeState();

    /// A value of the present part, as it is now.
    template <class Value>
    void save(const Value& value) {
        if constexpr (SavedInSlices<const Value>) {
            add(value.in_slices(saves_));
        } else {
            state::save(writer_, value);
        }
    }
    void end_part();
    /// Saves a slice. True once all is saved.
    [[nodiscard]] bool save_slice(const SliceSize& size);
    /// Behind the last slice, and behind the last part, which is that of the input.
    [[nodiscard]] SavedNode take();

  private:
    /// Behind so many bytes of the other values.
    struct Sliced {
        std::uint64_t behind;
        std::unique_ptr<SlicedState> state;
    };
    struct End {
        std::uint64_t behind;
        std::size_t sliced;  // and behind so many of these
    };

    void add(std::unique_ptr<SlicedState> state);

    Saves saves_;
    StateBytes kept_;
    StateWriter writer_;
    std::vector<End> ends_;  // of the parts
    std::vector<Sliced> sliced_;
    std::size_t saved_ = 0;  // of these
};

/// A part of a node as it was in one node, or in all replicas that there were.
struct PartBefore {
    /// Throws StateError unless all of it was read.
    void expect_end() const;

    std::vector<StateReader> readers = {};  ///< None: it begins anew.
    bool is_share = false;                  ///< The node takes over the keys that are its own.
    std::string type = {};                  ///< As it was stored (layout_of_state).
};
/// A node goes on from these parts.
struct PartsBefore {
    std::vector<PartBefore> operators = {};
    PartBefore input = {};
};

/// Throws StateError.
[[noreturn]] void refuse_other_replicas(const std::string& type);

template <class Part>
concept LoadsItsShare =
    requires(Part& part, StateReader& reader, const KeyShare& share) { part.load(reader, share); };

template <class Part>
concept LoadedByShare = requires(Part& part, StateReader& reader, const KeyShare& share) {
    load_share_of_state(reader, part, share);
};

/// Loads a part of a state from those of several replicas. Throws StateError for one that is not by
/// key, unless it is equal in all.
template <class Part>
void load_share(Part& part, std::vector<StateReader>& readers, const KeyShare& share) {
    if constexpr (LoadsItsShare<Part>) {
        for (StateReader& reader : readers) part.load(reader, share);
    } else if constexpr (LoadedByShare<Part>) {
        for (StateReader& reader : readers) load_share_of_state(reader, part, share);
    } else {
        std::span<const std::byte> first;
        for (StateReader& reader : readers) {
            const std::size_t before = reader.left();
            state::load(reader, part);
            const auto bytes = reader.read_since(before);
            if (&reader == &readers.front()) {
                first = bytes;
            } else if (!std::equal(bytes.begin(), bytes.end(), first.begin(), first.end())) {
                refuse_other_replicas(type_name<Part>());
            }
        }
    }
}

/// `each_value(load)` calls `load` with the values of the part.
template <class EachValue>
void load_part(PartBefore& part, const KeyShare& share, const EachValue& each_value) {
    if (part.readers.empty()) return;
    if (part.is_share) {
        each_value([&](auto& value) { load_share(value, part.readers, share); });
    } else {
        each_value([&](auto& value) { state::load(part.readers.front(), value); });
    }
    part.expect_end();
}

/// The types of the parts of a state.
template <class One>
[[nodiscard]] std::string type_of_state() {
    if constexpr (requires(One& one) { one.state(); }) {
        return strid::detail::without_lambda_numbers(
            type_name<decltype(std::declval<One&>().state())>());
    } else {
        return {};
    }
}

/// The same, with the layouts of the aggregates in them: as it is stored, and compared. `layouts`
/// is empty, and has them then.
template <class One>
[[nodiscard]] [[gnu::cold]] std::string layout_of_state(state::Layouts& layouts) {
    if constexpr (requires(One& one) { one.state(); }) {
        layouts.add<decltype(std::declval<One&>().state())>();
        return type_of_state<One>() + layouts.text();
    } else {
        return {};
    }
}

// Why an operator can take no part in a snapshot.
[[nodiscard]] std::string no_codec(const std::string& name, const std::string& type);
[[nodiscard]] std::string works_apart_of_state(const std::string& name);
[[nodiscard]] std::string no_position(const std::string& name);

}  // namespace strid::operators
