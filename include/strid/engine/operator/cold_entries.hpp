// SPDX-License-Identifier: Apache-2.0
//
// The part of a table with a store (stored_table.hpp) that does not depend on the types of keys and
// states: the store of the replica, with the bytes of what is asked and of what is written. Every
// failure of the store is an OperatorError, which no policy for exceptions of functions leaves out.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <strid/operator/context.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/cold_store.hpp>

namespace strid::operators {

class Checkpoints;  // cold_entries.cpp

/// Pieces of bytes, one behind the other in one memory that is used again.
class BytePieces final : StateWriter::Receiver {
  public:
    BytePieces() : writer_(*this) {}
    BytePieces(const BytePieces&) = delete;
    BytePieces& operator=(const BytePieces&) = delete;
    ~BytePieces() override = default;

    /// Writes the next piece by `write(writer)`. If that throws, there is no such piece.
    template <class Write>
    void add(const Write& write) {
        try {
            write(writer_);
            writer_.flush();
        } catch (...) {
            drop_begun();
            throw;
        }
        ends_.push_back(bytes_.size());
    }
    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
    /// Of all pieces.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.size(); }
    /// Valid until the next change.
    [[nodiscard]] ColdStore::Bytes operator[](std::size_t place) const noexcept;
    void clear() noexcept;

  private:
    void receive(std::span<const std::byte> bytes) override;
    void drop_begun();

    std::vector<std::byte> bytes_;
    std::vector<std::size_t> ends_;
    StateWriter writer_;
};

class ColdEntries {
  public:
    /// Opens the store of the replica. Throws InputOutputError.
    ColdEntries(const Context& context, ColdStores& stores);
    ColdEntries(const ColdEntries&) = delete;
    ColdEntries& operator=(const ColdEntries&) = delete;
    ~ColdEntries();

    /// An entry that the store has as soon as the changes are written.
    template <class WriteKey, class WriteState>
    void put(const WriteKey& key, const WriteState& state) {
        begin_change();
        pieces_.add(key);
        pieces_.add(state);
        has_state_.push_back(true);
    }
    /// An entry that it has not then.
    template <class WriteKey>
    void remove(const WriteKey& key) {
        begin_change();
        pieces_.add(key);
        pieces_.add([](StateWriter&) {});
        has_state_.push_back(false);
    }
    /// Writes the changes so far. put() and remove() do so when they are many bytes.
    void write_changes();

    /// Asks for one more key.
    template <class WriteKey>
    void ask(const WriteKey& key) {
        asked_.add(key);
    }
    /// Calls `found(place, state)` for the keys that were asked for and that the store has, after
    /// writing the changes so far. Then nothing is asked for.
    void answer(const ColdStore::Found& found);

    /// How many bytes a value has.
    template <class Write>
    [[nodiscard]] std::size_t measure(const Write& write) {
        measured_.clear();
        measured_.add(write);
        return measured_.bytes();
    }

    /// All entries, after writing the changes so far.
    [[nodiscard]] std::unique_ptr<ColdStore::Cursor> all();
    /// The next one; false behind the last.
    [[nodiscard]] bool next(ColdStore::Cursor& cursor);

    /// The snapshot of this number begins.
    void begin_snapshot(std::uint64_t number) noexcept { snapshot_ = number; }
    /// Writes the changes so far, and keeps all entries for the snapshot that has begun. In a run
    /// that takes snapshots, a checkpoint that cannot be made gives up the snapshot, and is no
    /// error here.
    [[nodiscard]] ColdStore::Checkpoint checkpoint();
    /// Throws StateError, InputOutputError.
    void restore(const ColdStore::Checkpoint& from) { store_->restore(from); }
    /// The same.
    [[nodiscard]] std::unique_ptr<ColdStore::Cursor> read_checkpoint(
        const ColdStore::Checkpoint& from) {
        return store_->read_checkpoint(from);
    }

  private:
    void begin_change();

    std::string name_;  // of the operator
    std::uint64_t replica_;
    std::shared_ptr<ColdStore> store_;
    std::shared_ptr<Checkpoints> checkpoints_;  // null: the run takes no snapshots
    BytePieces pieces_;                         // of the changes: each a key and a state
    std::vector<bool> has_state_;
    std::vector<ColdStore::Change> changes_;
    BytePieces asked_;
    std::vector<ColdStore::Bytes> keys_;
    BytePieces measured_;
    std::uint64_t snapshot_ = 0;  // the number of the last one that has begun
};

}  // namespace strid::operators
