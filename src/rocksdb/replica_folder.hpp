// SPDX-License-Identifier: Apache-2.0
//
// The folder of a replica: FOLDER/OPERATOR/REPLICA. It has the file `strid-states`, by which it is
// known as ours, and whose lock this process has as long as the object lives; the folder `live`;
// and the folders of checkpoints, named by the numbers of their snapshots.
//
// Threads: one at a time. Invariant: nothing is removed from a folder without that file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <strid/state/cold_store.hpp>

namespace strid::rocksdb {

/// The folder of all replicas. If this object has made it, it removes it when it is empty.
class RootFolder {
  public:
    explicit RootFolder(std::string path) : path_(std::move(path)) {}
    RootFolder(const RootFolder&) = delete;
    RootFolder& operator=(const RootFolder&) = delete;
    ~RootFolder() = default;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// Makes it where it is missing. Throws InputOutputError. Any thread.
    void make();
    /// Removes it, if it was made here and is empty. Any thread.
    void remove_if_empty() noexcept;

  private:
    std::string path_;
    std::mutex mutex_;
    bool is_made_ = false;
};

/// The folder of the replicas of an operator.
[[nodiscard]] std::string folder_of_operator(const std::string& root, std::string_view name);

/// The folder of a checkpoint in that of its operator. Throws StateError where it is not there, and
/// InputOutputError where another user could have put files into it.
[[nodiscard]] std::string existing_checkpoint(const std::string& of_operator,
                                              const ColdStore::Checkpoint& named);

class ReplicaFolder {
  public:
    /// Makes and locks the folder, and removes `live`, which a killed run has left. `root` outlives
    /// it. Throws InputOutputError.
    ReplicaFolder(RootFolder& root, const ColdStorePlace& place);
    ReplicaFolder(const ReplicaFolder&) = delete;
    ReplicaFolder& operator=(const ReplicaFolder&) = delete;
    /// Removes `live`, and all that is empty then.
    ~ReplicaFolder();

    [[nodiscard]] std::string live() const { return path_ + "/live"; }
    [[nodiscard]] std::string checkpoint(const ColdStore::Checkpoint& named) const;
    /// Throws as existing_checkpoint().
    [[nodiscard]] std::string existing(const ColdStore::Checkpoint& named) const {
        return existing_checkpoint(of_operator_, named);
    }
    [[nodiscard]] std::string checkpoint(std::uint64_t snapshot) const {
        return checkpoint({snapshot, replica_});
    }
    /// The files of a checkpoint. Throws InputOutputError.
    [[nodiscard]] CheckpointFiles files_of(std::uint64_t snapshot) const;
    /// Removes the checkpoint, which may be incomplete. Throws InputOutputError.
    void remove_checkpoint(std::uint64_t snapshot) const;
    /// Removes the others, also of replicas that are not there any more. Throws InputOutputError.
    void keep_checkpoints(std::span<const std::uint64_t> snapshots) const;
    /// Throws InputOutputError unless the disk takes so many bytes now.
    void expect_room(std::uint64_t bytes) const;
    /// The folder of the checkpoints is on the disk. Throws InputOutputError.
    void synchronise() const;

  private:
    void lock();
    void keep_checkpoints(const std::string& folder,
                          std::span<const std::uint64_t> snapshots) const;

    RootFolder& root_;
    std::string of_operator_;
    std::string path_;
    std::uint64_t replica_;
    std::uint64_t parallelism_;
    int lock_ = -1;
};

/// Makes the files of one folder those of another, which does not exist: files of states by links,
/// others by copies. Throws InputOutputError.
void copy_database(const std::string& from, const std::string& to);

}  // namespace strid::rocksdb
