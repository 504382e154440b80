// SPDX-License-Identifier: Apache-2.0
//
// A table with a store (stored_table.hpp) as a part of an operator's state. A snapshot has the name
// of the checkpoint that the store makes for it, and not the states.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <utility>

#include <strid/engine/operator/key_groups.hpp>
#include <strid/engine/state/layouts.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/cold_store.hpp>

namespace strid::operators {

/// It refers to the table, as a std::tie does: assigned to, it moves the other's table.
template <class Table>
class StoredStates {
    using Entry = typename Table::Entry;

  public:
    /// A key, and what is saved of it.
    using value_type = std::pair<decltype(Entry::key), decltype(Entry::state)>;

    explicit StoredStates(Table& table) noexcept : table_(&table) {}
    StoredStates(const StoredStates&) = default;
    StoredStates& operator=(const StoredStates&) = delete;
    StoredStates& operator=(StoredStates&& other) noexcept {
        *table_ = std::move(*other.table_);
        return *this;
    }
    ~StoredStates() = default;

    // As the table itself (engine/operator/state_size.hpp).
    [[nodiscard]] std::size_t keys() const noexcept { return table_->keys(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return table_->bytes(); }
    [[nodiscard]] decltype(auto) texts() noexcept
        requires requires(Table& table) { table.texts(); }
    {
        return table_->texts();
    }

    void save(StateWriter& writer) const {
        const ColdStore::Checkpoint made = table_->checkpoint();
        writer.number(made.snapshot);
        writer.number(made.replica);
        writer.number(table_->keys());
    }
    /// Into a table without keys.
    void load(StateReader& reader) {
        const Saved saved{reader};
        const state::StoredVersions* const versions = reader.versions();
        if (versions == nullptr || versions->empty()) {
            table_->restore(saved.checkpoint, saved.keys);
        } else {
            table_->restore_share(saved.checkpoint, {}, versions);
        }
    }
    /// Adds the keys of a share.
    void load(StateReader& reader, const KeyShare& share) {
        const Saved saved{reader};
        table_->restore_share(saved.checkpoint, share, reader.versions());
    }

  private:
    struct Saved {
        explicit Saved(StateReader& reader)
            : checkpoint{reader.number(), reader.number()}, keys(reader.number()) {}
        ColdStore::Checkpoint checkpoint;
        std::size_t keys;
    };

    Table* table_;
};

}  // namespace strid::operators
