// SPDX-License-Identifier: Apache-2.0
//
// The folder of the snapshots of a run. A snapshot is one file, which gets its name when it is
// complete and on the disk. The last good one and the one before it are kept; nothing else of the
// folder is touched. A snapshot that is damaged is passed over, with a warning, and the one before
// it stands.
//
// The file: a line with the version of the format, then blocks: the description of the snapshot,
// and the state of each node. A block has its length, the length and the CRC-32 of what is stored,
// and that, compressed by zstd.
//
// Threads: one at a time. Invariant: a process has the lock of its folder as long as the object
// lives, so that no two runs write to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strid {

/// One node of a run: a replica of operators that are fused.
struct SnapshotNode {
    std::vector<std::string> operators = {};  ///< Their names, first to last.
    std::vector<std::string> types = {};      ///< Of their states.
    std::uint64_t replica = 0;
    std::uint64_t parallelism = 1;
    bool has_ended = false;  ///< It processes no record any more, and has no state.
};

/// The description of a snapshot.
struct SnapshotDescription {
    std::uint64_t number = 0;     ///< From 1 on.
    std::int64_t taken_ns = 0;    ///< Of the system's clock (Unix time).
    std::string graph = {};       ///< The name of the graph.
    std::string program = {};     ///< The version of Strid that wrote it.
    bool is_finished = false;     ///< The run has reached its end; there is nothing to go on with.
    std::vector<SnapshotNode> nodes = {};  ///< In the order of the states.
    /// How to go on writing the results (RunScope::Result::prepare).
    std::map<std::string, std::vector<std::byte>> results = {};
    std::uint64_t state_bytes = 0;  ///< Of all nodes, before compression.
};

/// A snapshot with the states of its nodes; of one that has ended, nothing.
struct Snapshot {
    SnapshotDescription description = {};
    std::vector<std::vector<std::byte>> states = {};
};

/// Called with a sentence for the user.
using SnapshotWarning = std::function<void(const std::string&)>;

/// The place where a run stores its snapshots. Threads: one at a time.
class SnapshotStore {
  public:
    virtual ~SnapshotStore() = default;
    /// The numbers of the snapshots, rising.
    [[nodiscard]] virtual std::vector<std::uint64_t> numbers() const = 0;
    /// The newest one that is whole; nothing where there is none. Throws StateError where there are
    /// snapshots and all are damaged: a run that began anew would destroy them.
    [[nodiscard]] virtual std::optional<Snapshot> newest(const SnapshotWarning& warn) const = 0;
    /// Stores a snapshot: it lasts from then on, whatever becomes of the process. Throws
    /// InputOutputError: the older ones stand.
    virtual void store(const Snapshot& snapshot) = 0;
};

/// A folder of snapshots, which this process alone writes to.
class SnapshotFolder final : public SnapshotStore {
  public:
    /// Makes the folder, for this user alone, where there is none. Throws InputOutputError, also
    /// where another process has it.
    explicit SnapshotFolder(std::string path);
    SnapshotFolder(const SnapshotFolder&) = delete;
    SnapshotFolder& operator=(const SnapshotFolder&) = delete;
    ~SnapshotFolder() override;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::vector<std::uint64_t> numbers() const override;
    /// The description of one. Throws StateError, InputOutputError.
    [[nodiscard]] SnapshotDescription describe(std::uint64_t number) const;
    /// One with its states. Throws StateError, InputOutputError.
    [[nodiscard]] Snapshot read(std::uint64_t number) const;
    [[nodiscard]] std::optional<Snapshot> newest(const SnapshotWarning& warn) const override;
    /// Those before the one before it are removed.
    void store(const Snapshot& snapshot) override;

  private:
    [[nodiscard]] std::string file_of(std::uint64_t number) const;
    [[nodiscard]] std::vector<std::byte> contents(std::uint64_t number) const;
    [[noreturn]] void fail(const std::string& file, const char* what, int error) const;

    std::string path_;
    int directory_ = -1;
    int lock_ = -1;
};

}  // namespace strid
