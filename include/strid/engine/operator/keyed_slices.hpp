// SPDX-License-Identifier: Apache-2.0
//
// A table of states by key that is saved in slices (operator/keyed_state.hpp). Where keys are kept
// for the run their order is kept too, so that two streams of bytes are written: the entries in
// their order, and those that were saved early because a record was about to change them. The
// latter have their keys in the former, and their places are named before it.
//
// The bytes of a table are those of one whole snapshot, behind the number 1. A snapshot of changes
// has no such number: its bytes are put behind the others, and the number in front becomes one
// more. Where keys expire it begins with those that were forgotten.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include <strid/engine/operator/key_codec.hpp>
#include <strid/engine/operator/slices.hpp>
#include <strid/engine/operator/table_changes.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/codec.hpp>

namespace strid::operators {

/// The bytes of such a table.
class KeyedSliceBytes : public SlicedState {
  public:
    ~KeyedSliceBytes() override;
    [[nodiscard]] StateBytes take() final;
    [[nodiscard]] bool has_changes_only() const noexcept final { return has_changes_only_; }

  protected:
    /// `keeps_order`: those that were saved early lie apart.
    explicit KeyedSliceBytes(bool keeps_order);
    /// The changes begin with these keys, which were forgotten.
    void begin_changes(std::size_t forgotten_keys, StateBytes forgotten);
    /// The key of an entry that was saved early has its place here.
    void add_early_key();

    StateWriter& entries() noexcept { return entries_; }
    StateWriter& early() noexcept { return early_; }
    std::uint64_t place_ = 0;       // of the next key
    std::size_t early_states_ = 0;  // saved
    std::exception_ptr fault_;      // of an entry that was saved early

  private:
    bool keeps_order_;
    bool has_changes_only_ = false;
    std::size_t forgotten_keys_ = 0;
    std::size_t early_keys_ = 0;
    StateBytes forgotten_;
    StateBytes place_bytes_;
    StateBytes entry_bytes_;
    StateBytes early_bytes_;
    StateWriter places_;  // of the keys that were early, among all
    StateWriter entries_;
    StateWriter early_;
};

/// The keys that a table forgets, as bytes.
template <class Entry>
class ForgottenKeyBytes final : public ForgottenKeys<Entry> {
  public:
    void add(const Entry& entry) override {
        save_key(writer_, entry.key);
        ++this->count_;
    }
    [[nodiscard]] StateBytes take() {
        writer_.flush();
        return std::move(bytes_);
    }

  private:
    StateBytes bytes_;
    StateWriter writer_{bytes_};
};

/// Saves the table as StatesByKey::load() loads it. The table outlives the last slice.
template <class Table>
class KeyedSlices final : public KeyedSliceBytes, private SavesEntry<typename Table::Entry> {
    using Entry = typename Table::Entry;
    using Forgotten = ForgottenKeyBytes<Entry>;
    static constexpr bool expires = life_of<Table>.expires;

  public:
    KeyedSlices(Table& table, Saves saves)
        : KeyedSliceBytes(has_early_states<Table>), table_(table) {
        auto begun =
            table.begin_saving(saves, *this, expires ? std::make_unique<Forgotten>() : nullptr);
        if (!begun.has_changes_only) return;
        if constexpr (expires) {
            auto& forgotten = static_cast<Forgotten&>(*begun.forgotten);
            begin_changes(forgotten.count(), forgotten.take());
        } else {
            begin_changes(0, {});
        }
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
            ++early_states_;
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
