// SPDX-License-Identifier: Apache-2.0
//
// The place of the states of keys that are not in memory (operator/stored_keys.hpp): a store of
// bytes by bytes. Each replica of an operator has one of its own. strid::rocksdb implements it;
// a program may implement another one.
//
// Without snapshots a store is a cache of the process: it begins empty and is removed with the
// object. With snapshots it makes checkpoints, which outlive the process.
//
// Threads: one at a time, that of the replica's task; drop_checkpoint() and keep_checkpoints() by
// any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <strid/state/checkpoint.hpp>

namespace strid {

/// The states of the keys of one replica. Every function may throw an Error that names the place;
/// the run then fails, because a state may be lost. Only checkpoint() may fail without.
class ColdStore {
  public:
    /// A key, or a state, as its codec writes it (state/codec.hpp).
    using Bytes = std::span<const std::byte>;

    /// A key with its new state, or without one: it is removed.
    struct Change {
        Bytes key = {};                   ///< Of the entry.
        std::optional<Bytes> state = {};  ///< Nothing: the entry is removed, if there is one.
    };
    /// Is called with the place of a key among those that were asked for, and its state, which is
    /// valid during the call.
    using Found = std::function<void(std::size_t place, Bytes state)>;

    /// Goes through entries once, in any order.
    class Cursor {
      public:
        virtual ~Cursor() = default;
        /// Goes to the next entry, the first time to the first; false behind the last, also again.
        [[nodiscard]] virtual bool next() = 0;
        /// The entry's key, until the next call of next().
        [[nodiscard]] virtual Bytes key() const = 0;
        /// The entry's state, until the next call of next().
        [[nodiscard]] virtual Bytes state() const = 0;
    };

    /// A checkpoint, as a snapshot names it.
    struct Checkpoint {
        std::uint64_t snapshot = 0;  ///< The number of the snapshot.
        std::uint64_t replica = 0;   ///< The replica that made it.
    };

    virtual ~ColdStore() = default;

    /// Looks up many keys at once, some maybe twice; `found` is called for those that are there.
    virtual void read(std::span<const Bytes> keys, const Found& found) = 0;
    /// Makes these changes, in order.
    virtual void write(std::span<const Change> changes) = 0;
    /// All entries of this moment. No call of write() follows while the cursor lives.
    [[nodiscard]] virtual std::unique_ptr<Cursor> all() = 0;

    // With snapshots.
    /// Keeps all entries of this moment for the snapshot of this number; they last, whatever
    /// becomes of the process. An earlier checkpoint of the number is replaced. If it throws an
    /// Error, the snapshot is given up with a warning and the run goes on: the store has all
    /// entries as before.
    virtual CheckpointFiles checkpoint(std::uint64_t snapshot) = 0;
    /// The entries become those of a checkpoint, which stays as it is. The store is empty before.
    /// Throws StateError where there is none.
    virtual void restore(const Checkpoint& from) = 0;
    /// The entries of a checkpoint. Throws StateError where there is none.
    [[nodiscard]] virtual std::unique_ptr<Cursor> read_checkpoint(const Checkpoint& from) = 0;
    /// Removes the checkpoint of a snapshot that was given up, if the replica has made one. Threads
    /// as keep_checkpoints().
    virtual void drop_checkpoint(std::uint64_t snapshot) = 0;
    /// Removes the checkpoints of other numbers than these, also those of replicas that are not
    /// there any more. By any thread, at the same time as the other functions; none that it removes
    /// is being made.
    virtual void keep_checkpoints(std::span<const std::uint64_t> snapshots) = 0;
};

/// The replica that a store is for.
struct ColdStorePlace {
    std::string operator_name = {};  ///< Of the operator in its graph.
    std::size_t replica = 0;         ///< From 0 on.
    std::size_t parallelism = 1;     ///< The number of replicas.
};

/// Opens the stores of an operator, or of several. Any thread.
class ColdStores {
  public:
    virtual ~ColdStores() = default;
    /// An empty store for this replica. Throws InputOutputError.
    [[nodiscard]] virtual std::unique_ptr<ColdStore> open(const ColdStorePlace& place) = 0;
    /// In one sentence why no run can go on from a checkpoint of the snapshot of this number,
    /// before the stores of its operator are opened; empty: nothing was found. A run then goes on
    /// from the snapshot before. It is quick: states need not be read. Throws InputOutputError
    /// where it cannot be found out.
    [[nodiscard]] virtual std::string fault_of(const SnapshotCheckpoint& /*checkpoint*/,
                                               std::uint64_t /*snapshot*/) const {
        return {};
    }
};

}  // namespace strid
