// SPDX-License-Identifier: Apache-2.0
//
// A table of states by key that is saved in slices (operator/keyed_state.hpp). Where keys are kept
// for the run their order is kept too, so that two streams of bytes are written: the entries in
// their order, and those that were saved early because a record was about to change them. The
// latter have their keys in the former, and their places are named before it.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include <strid/engine/operator/key_codec.hpp>
#include <strid/engine/operator/slices.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

/// The bytes of such a table.
class KeyedSliceBytes : public SlicedState {
  public:
    ~KeyedSliceBytes() override;
    [[nodiscard]] StateBytes take() final;

  protected:
    /// `has_early`: those that were saved early lie apart.
    KeyedSliceBytes(std::size_t keys, bool has_early);
    /// The key of an entry that was saved early has its place here.
    void add_early_key();

    StateWriter& entries() noexcept { return entries_; }
    StateWriter& early() noexcept { return early_; }
    std::uint64_t place_ = 0;   // of the next key
    std::exception_ptr fault_;  // of an entry that was saved early

  private:
    std::size_t keys_;
    bool has_early_;
    std::size_t early_keys_ = 0;
    StateBytes place_bytes_;
    StateBytes entry_bytes_;
    StateBytes early_bytes_;
    StateWriter places_;  // of the keys that were early, among all
    StateWriter entries_;
    StateWriter early_;
};

/// Saves the table as StatesByKey::load() loads it. The table outlives the last slice.
template <class Table>
class KeyedSlices final : public KeyedSliceBytes, private Table::SavesEntry {
    using Entry = typename Table::Entry;

  public:
    explicit KeyedSlices(Table& table)
        : KeyedSliceBytes(table.keys(), has_early_states<Table>), table_(table) {
        table.begin_saving(*this);
    }

    [[nodiscard]] bool save_slice(const SliceSize& size) override {
        if (fault_) std::rethrow_exception(fault_);
        StateWriter& writer = entries();
        const std::uint64_t end = writer.written() + size.bytes;
        return table_.save_entries(size.entries, [&](const Entry& entry, bool is_early) {
            if (is_early) {
                add_early_key();
                save_key(writer, entry.key);
            } else {
                save(writer, entry);
            }
            ++place_;
            return writer.written() < end;
        });
    }

  private:
    /// A fault is that of the next slice: here it would be taken for that of the record, which may
    /// be left out.
    void save_early(const Entry& entry) noexcept override {
        if (fault_) return;
        try {
            save(early(), entry);
        } catch (...) {
            fault_ = std::current_exception();
        }
    }
    static void save(StateWriter& writer, const Entry& entry) {
        save_key(writer, entry.key);
        state::save(writer, entry.state);
    }

    Table& table_;
};

}  // namespace strid::operators
