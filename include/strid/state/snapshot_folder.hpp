// SPDX-License-Identifier: Apache-2.0
//
// The folder of the snapshots of a run. A snapshot is one file, which gets its name when it is
// complete and on the disk. Of a large state it may have what has changed since the snapshot
// before, and builds on that one, up to a whole snapshot: a chain, which a run begins anew. Kept
// are the chain of the last snapshot, and the last one of an earlier chain with what that builds
// on; nothing else of the folder is touched. A snapshot that is damaged, or builds on one that is,
// or names a checkpoint which is, is passed over, with a warning, and the one before it stands.
// src/state/snapshot_file.hpp describes the file.
//
// Threads: one at a time. Invariant: a process has the lock of its folder as long as the object
// lives, so that no two runs write to one. Reading takes no lock: a snapshot that has its name is
// complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <strid/state/bytes.hpp>
#include <strid/state/checkpoint.hpp>

namespace strid {

class SnapshotRequests;  // engine/state/snapshot_requests.hpp

/// A table by key among the bytes of a state. Such bytes begin with the number of the snapshots
/// that they have one behind the other: a whole one, and those of changes; where they are changes
/// only, they have no number.
struct SnapshotTable {
    std::uint64_t begin = 0;        ///< Its place in the state.
    std::uint64_t bytes = 0;        ///< At least one.
    bool has_changes_only = false;  ///< Since the snapshot on which this one builds.
};

/// One node of a run: a replica of operators that are fused.
struct SnapshotNode {
    std::vector<std::string> operators = {};  ///< Their names, first to last.
    std::vector<std::string> types = {};      ///< Of their states.
    std::uint64_t replica = 0;                ///< From 0 on.
    std::uint64_t parallelism = 1;            ///< The number of replicas.
    bool is_by_key = false;                   ///< All that arrives is dealt out by its key.
    bool has_ended = false;         ///< It processes no record any more, and has no state.
    std::uint64_t state_bytes = 0;  ///< Before compression. SnapshotFolder::store() sets it.
    /// Of the states of the operators; empty if it has ended.
    std::vector<std::uint64_t> operator_bytes = {};
    std::vector<SnapshotTable> tables = {};  ///< Of these states.
};

/// The description of a snapshot.
struct SnapshotDescription {
    std::uint64_t number = 0;  ///< From 1 on.
    /// The number of the snapshot without which it is of no use: it has tables with the changes
    /// since then. 0: it is whole.
    std::uint64_t builds_on = 0;
    std::int64_t taken_ns = 0;  ///< Of the system's clock (Unix time).
    std::string graph = {};     ///< The name of the graph.
    std::string program = {};   ///< The version of Strid that wrote it.
    bool is_finished = false;   ///< The run has reached its end; there is nothing to go on with.
    std::vector<SnapshotNode> nodes = {};  ///< In the order of the states.
    /// How to go on writing the results (RunScope::Result::prepare).
    std::map<std::string, std::vector<std::byte>> results = {};
    /// That stores of states keep for it (state/cold_store.hpp).
    std::vector<SnapshotCheckpoint> checkpoints = {};
    std::uint64_t state_bytes = 0;  ///< Of all nodes. SnapshotFolder::store() sets it.
};

/// A snapshot with the states of its nodes; of one that has ended, nothing.
struct Snapshot {
    SnapshotDescription description = {};  ///< Of the snapshot.
    std::vector<StateBytes> states = {};   ///< One of each node.
};

/// Makes one whole snapshot of a chain: the first is whole, and each other one builds on the one
/// before it. Throws StateError for others.
[[nodiscard]] Snapshot joined(std::vector<Snapshot> chain);

/// The snapshots of a folder, for reading. A run may store others meanwhile, and remove the oldest:
/// one whose number was found may be gone when it is read, which is an InputOutputError.
class SnapshotFiles {
  public:
    /// Throws InputOutputError where there is no such folder, or this user may not read it.
    explicit SnapshotFiles(std::string path);
    SnapshotFiles(const SnapshotFiles&) = delete;
    SnapshotFiles& operator=(const SnapshotFiles&) = delete;
    ~SnapshotFiles();

    /// As it was given.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// The name of the file of a snapshot in the folder.
    [[nodiscard]] static std::string name_of(std::uint64_t number);
    /// Whether a run has taken snapshots here, or begun to.
    [[nodiscard]] bool was_used() const;
    /// The numbers of the snapshots, rising. Throws InputOutputError.
    [[nodiscard]] std::vector<std::uint64_t> numbers() const;
    /// The length of the file of one. Throws StateError, InputOutputError.
    [[nodiscard]] std::uint64_t file_bytes(std::uint64_t number) const;
    /// The description of one, without reading the states. Throws StateError, InputOutputError.
    [[nodiscard]] SnapshotDescription describe(std::uint64_t number) const;
    /// Those that it builds on, and its own number, rising. Throws StateError, InputOutputError.
    [[nodiscard]] std::vector<std::uint64_t> chain_of(std::uint64_t number) const;
    /// One with its states, made whole of those that it builds on. Throws StateError,
    /// InputOutputError.
    [[nodiscard]] Snapshot read(std::uint64_t number) const;

    /// Asks the run that uses the folder for a snapshot, and waits for it: an empty text when it is
    /// stored, or the reason why it is not; nothing if no run answers. Throws InputOutputError.
    [[nodiscard]] std::optional<std::string> request() const;

  protected:
    /// Open as long as the object lives.
    [[nodiscard]] int directory() const noexcept { return directory_; }

  private:
    class Chain;  // of files

    [[nodiscard]] std::string file_of(std::uint64_t number) const;
    [[nodiscard]] bool is_there(std::uint64_t number) const;
    [[nodiscard]] int open(std::uint64_t number) const;

    std::string path_;
    int directory_ = -1;
};

/// Called with a sentence for the user.
using SnapshotWarning = std::function<void(const std::string&)>;

/// In one sentence why a run cannot go on from a snapshot although it is whole, such as a
/// checkpoint that is not there; empty: it can.
using SnapshotFault = std::function<std::string(const SnapshotDescription&)>;

/// The place where a run stores its snapshots. Threads: one at a time.
class SnapshotStore {
  public:
    virtual ~SnapshotStore() = default;
    /// The numbers of the snapshots, rising.
    [[nodiscard]] virtual std::vector<std::uint64_t> numbers() const = 0;
    /// The newest one that is whole, and of which `fault_of`, unless it is null, says nothing.
    /// Nothing where there is no snapshot. Throws StateError where there are some and all are
    /// damaged: a run that began anew would destroy them; and what `fault_of` throws.
    [[nodiscard]] virtual std::optional<Snapshot> newest(const SnapshotWarning& warn,
                                                         const SnapshotFault& fault_of) const = 0;
    /// Stores a snapshot: it lasts from then on, whatever becomes of the process. Throws
    /// InputOutputError: the older ones stand.
    virtual void store(const Snapshot& snapshot) = 0;
    /// Whether the next snapshot may build on the one that was stored last. newest() then returns
    /// one that is joined().
    [[nodiscard]] virtual bool takes_changes() const { return false; }
    /// The oldest one that newest() may return from now on; 0: the one that was stored before the
    /// last.
    [[nodiscard]] virtual std::uint64_t oldest_needed() const { return 0; }
};

/// When a folder takes a snapshot of what has changed, and not of all.
struct SnapshotChanges {
    std::uint64_t whole_bytes_min = std::uint64_t{256} << 10;  ///< The file of the whole one has.
    std::uint64_t chain_max = 16;  ///< Files of changes behind a whole one.
    /// Together they have this part of its bytes: with more the next snapshot is whole.
    double part_max = 0.5;
};

/// A folder of snapshots, which this process alone writes to.
class SnapshotFolder final : public SnapshotFiles, public SnapshotStore {
  public:
    /// Makes the folder, for this user alone, where there is none, and removes what a killed
    /// process has left of a snapshot. Throws InputOutputError, also where another process has the
    /// folder.
    explicit SnapshotFolder(std::string path, const SnapshotChanges& changes = {});
    SnapshotFolder(const SnapshotFolder&) = delete;
    SnapshotFolder& operator=(const SnapshotFolder&) = delete;
    ~SnapshotFolder() override;

    [[nodiscard]] std::vector<std::uint64_t> numbers() const override {
        return SnapshotFiles::numbers();
    }
    [[nodiscard]] std::optional<Snapshot> newest(const SnapshotWarning& warn,
                                                 const SnapshotFault& fault_of) const override;
    /// Takes a state for each node. Then it is on the disk, and the older ones are removed, except
    /// for its chain, and the one that newest() has returned or that was stored before that chain.
    void store(const Snapshot& snapshot) override;
    [[nodiscard]] bool takes_changes() const override;
    [[nodiscard]] std::uint64_t oldest_needed() const override;
    /// Removes one. Throws InputOutputError.
    void remove(std::uint64_t number);
    /// From now on others may request() snapshots, as long as the returned object lives, which this
    /// folder outlives. `take` is called by a thread of its own. Throws InputOutputError.
    [[nodiscard]] std::unique_ptr<SnapshotRequests> answer(std::function<std::string()> take) const;

  private:
    void remove_leftovers() const;
    [[nodiscard]] int write(const std::string& name, const Snapshot& snapshot);
    void count(const SnapshotDescription& stored);
    void remove_old() const noexcept;

    SnapshotChanges changes_;
    int lock_ = -1;
    mutable std::optional<std::uint64_t> good_;  // the newest one known to be
    // The chain of the last one that was stored:
    std::vector<std::uint64_t> chain_;
    std::uint64_t whole_bytes_ = 0;   // of the file of the whole one
    std::uint64_t change_bytes_ = 0;  // of the others
    std::uint64_t written_bytes_ = 0;
    std::vector<std::uint64_t> chain_before_;  // to fall back to
    bool may_fall_back_ = false;               // it is of this run, or of that which goes on
};

}  // namespace strid
