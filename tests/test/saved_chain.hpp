// SPDX-License-Identifier: Apache-2.0
//
// The state of an operator that is saved several times while it goes on, in slices of one entry: by
// its changes, where they are known. All together are one state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <strid/engine/kernel/snapshot_cut.hpp>
#include <strid/engine/operator/slices.hpp>
#include <strid/state/snapshot_folder.hpp>

namespace strid::test {

class SavedChain {
  public:
    /// The next snapshot, behind the end of the one before: `save(node)` gives it the state.
    template <class Save>
    void begin(const Save& save) {
        end();
        saving_ = std::make_unique<operators::NodeState>(operators::Saves::changes);
        save(*saving_);
        saving_->end_part();
        saving_->end_part();  // that of the input
    }
    void save_slices(std::uint64_t count) {
        for (; saving_ != nullptr && count != 0; --count) {
            (void)saving_->save_slice({.entries = 1});
        }
    }
    /// The snapshots from the last whole one on.
    [[nodiscard]] std::size_t size() const { return snapshots_.size(); }
    /// The state as of the beginning of the last one.
    [[nodiscard]] std::vector<std::byte> bytes() {
        end();
        return joined(snapshots_).states.front().take();
    }

  private:
    void end() {
        if (saving_ == nullptr) return;
        while (!saving_->save_slice({.entries = 1})) {
        }
        operators::SavedNode node = saving_->take();
        saving_.reset();
        const bool is_whole = std::ranges::none_of(node.tables, &SnapshotTable::has_changes_only);
        if (is_whole) snapshots_.clear();
        Snapshot snapshot;
        snapshot.description.builds_on = snapshots_.size();
        snapshot.description.number = snapshots_.size() + 1;
        snapshot.description.nodes.push_back(
            {.operator_bytes = std::move(node.operator_bytes), .tables = std::move(node.tables)});
        snapshot.states.push_back(std::move(node.bytes));
        snapshots_.push_back(std::move(snapshot));
    }

    std::unique_ptr<operators::NodeState> saving_;  // null: nothing is being saved
    std::vector<Snapshot> snapshots_;
};

}  // namespace strid::test
