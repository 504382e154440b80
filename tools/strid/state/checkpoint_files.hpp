// SPDX-License-Identifier: Apache-2.0
//
// The checkpoints that a snapshot names, by their files: `strid` links no store. A checkpoint of
// strid::rocksdb is the folder FOLDER/OPERATOR/REPLICA/NUMBER; the one above it has the file
// `strid-states`, by which it is known as ours, and whose lock a run has
// (src/rocksdb/replica_folder.hpp).
//
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <strid/engine/http/listener.hpp>
#include <strid/state/checkpoint.hpp>

namespace strid::tool {

/// In one sentence why the files are not those that the store has made; empty: they are there, with
/// their lengths.
[[nodiscard]] std::string fault_of(const SnapshotCheckpoint& checkpoint);
/// Of all its files, when it was made.
[[nodiscard]] std::uint64_t bytes_of(const SnapshotCheckpoint& checkpoint);

/// The folder of a replica of an operator, in which no run keeps states now. It is opened once, and
/// what is removed is removed from there.
class StatesFolder {
  public:
    /// Takes its lock. Throws InputOutputError where the folder, or one of the two above it, is not
    /// this user's alone, where it is none of states, and where a run has the lock.
    explicit StatesFolder(std::string path);
    StatesFolder(const StatesFolder&) = delete;
    StatesFolder& operator=(const StatesFolder&) = delete;
    ~StatesFolder() = default;

    /// Whether it has a folder of this name.
    [[nodiscard]] bool has(const std::string& name) const;
    /// Removes a folder of files in it. Throws InputOutputError, also where that has folders.
    void remove(const std::string& name) const;
    /// Removes it, and the one above, if it has nothing but its lock. Else the names of what it
    /// has.
    [[nodiscard]] std::vector<std::string> remove_if_empty() const;

  private:
    std::string path_;
    std::string operator_name_;
    std::string name_;
    http::Descriptor root_;
    http::Descriptor of_operator_;
    http::Descriptor folder_;
    http::Descriptor lock_;
};

/// The folders of the checkpoints of some snapshots, which are to go.
class CheckpointFolders {
  public:
    void add(const SnapshotCheckpoint& checkpoint);
    /// A line for each folder: whether it goes, stays, with the reason, or was not found.
    [[nodiscard]] std::string text() const { return text_; }
    /// Removes those that go, with what a killed run has left beside them. Returns a line for each
    /// folder of a replica that has something else. Throws InputOutputError.
    [[nodiscard]] std::string remove() const;

  private:
    struct Replica {
        std::unique_ptr<StatesFolder> folder = {};  // null: it stays
        std::string fault = {};
        std::set<std::string> names = {};  // of the folders in it that go
    };

    std::map<std::string, Replica> replicas_;  // by the folder
    std::string text_;
};

}  // namespace strid::tool
