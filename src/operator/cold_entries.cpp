// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/operator/cold_entries.hpp>
#include <strid/engine/operator/faults.hpp>
#include <strid/operator/run_scope.hpp>

namespace strid::operators {

namespace {

constexpr std::size_t change_bytes_max = std::size_t{1} << 20;

}  // namespace

/// Makes the checkpoints of a replica. One that cannot be made is a fault of its snapshot, which is
/// then not stored; the operator and its store go on. Removes the checkpoints that no snapshot
/// names any more: it keeps those of the last two snapshots that are stored, and of the oldest one
/// that a run may fall back to.
///
/// Threads: make() by the task of the node, before its state is saved; checkpoint() by the thread
/// that stores snapshots, when all are saved, and before the next one begins.
class Checkpoints final : public RunScope::Result {
  public:
    Checkpoints(RunScope& run, SnapshotCheckpoint place, std::shared_ptr<ColdStore> store)
        : run_(run), last_(std::move(place)), store_(std::move(store)) {
        if (const std::uint64_t behind = run.before().behind; behind != 0) stored_ = {behind};
    }
    void make(std::uint64_t snapshot) {
        number_ = snapshot;
        fault_.clear();
        try {
            last_.where = store_->checkpoint(snapshot);
        } catch (const Error& error) {
            fault_ = error.what();
        }
    }
    [[nodiscard]] std::optional<SnapshotCheckpoint> checkpoint(std::uint64_t snapshot) override {
        if (snapshot != number_) return std::nullopt;  // the operator had ended before
        if (fault_.empty()) return last_;
        throw InputOutputError(fmt::format("operator '{}': {}", last_.operator_name, fault_));
    }

    void commit() override {}
    /// The end is stored: no run goes on from a snapshot.
    void finish() override { store_->keep_checkpoints({}); }
    void discard() noexcept override {}
    void snapshot_ended(std::uint64_t snapshot, bool is_stored) noexcept override {
        try {
            if (!is_stored) {
                if (snapshot == number_) store_->drop_checkpoint(snapshot);
                return;
            }
            stored_.push_back(snapshot);
            while (stored_.size() > 2) {
                const bool is_oldest = stored_.front() == run_.oldest_needed();
                if (is_oldest && stored_.size() == 3) break;
                stored_.erase(stored_.begin() + (is_oldest ? 1 : 0));
            }
            if (stored_.size() > 1) store_->keep_checkpoints(stored_);
        } catch (const std::exception& error) {
            run_.warn(error.what());  // they are removed behind the next one
        }
    }

  private:
    RunScope& run_;
    SnapshotCheckpoint last_;
    std::uint64_t number_ = 0;  // the snapshot that it is of
    std::string fault_;         // the reason why there is none
    std::shared_ptr<ColdStore> store_;
    std::vector<std::uint64_t> stored_;  // of which checkpoints are kept, rising
};

// ---- pieces -------------------------------------------------------------------------------------

ColdStore::Bytes BytePieces::operator[](std::size_t place) const noexcept {
    const std::size_t begin = place == 0 ? 0 : ends_[place - 1];
    return ColdStore::Bytes(bytes_).subspan(begin, ends_[place] - begin);
}

void BytePieces::clear() noexcept {
    bytes_.clear();
    ends_.clear();
}

void BytePieces::receive(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void BytePieces::drop_begun() {
    writer_.flush();
    bytes_.resize(ends_.empty() ? 0 : ends_.back());
}

// ---- entries ------------------------------------------------------------------------------------

ColdEntries::ColdEntries(const Context& context, ColdStores& stores)
    : name_(context.name),
      replica_(context.replica),
      store_(stores.open({name_, context.replica, context.parallelism})) {
    RunScope* const run = context.run;
    if (run != nullptr && run->takes_snapshots()) {
        checkpoints_ = std::make_shared<Checkpoints>(
            *run, SnapshotCheckpoint{.operator_name = name_, .replica = replica_}, store_);
        run->add(checkpoints_);
    }
}

ColdEntries::~ColdEntries() = default;

void ColdEntries::begin_change() {
    if (pieces_.bytes() >= change_bytes_max) write_changes();
}

void ColdEntries::write_changes() {
    if (has_state_.empty()) return;
    changes_.clear();
    for (std::size_t i = 0; i != has_state_.size(); ++i) {
        changes_.push_back({pieces_[2 * i], {}});
        if (has_state_[i]) changes_.back().state = pieces_[2 * i + 1];
    }
    guarded(name_, [this] { store_->write(changes_); });
    pieces_.clear();
    has_state_.clear();
}

void ColdEntries::answer(const ColdStore::Found& found) {
    if (asked_.size() == 0) return;
    write_changes();
    keys_.clear();
    for (std::size_t i = 0; i != asked_.size(); ++i) keys_.push_back(asked_[i]);
    guarded(name_, [&] { store_->read(keys_, found); });
    asked_.clear();
}

std::unique_ptr<ColdStore::Cursor> ColdEntries::all() {
    write_changes();
    return guarded(name_, [this] { return store_->all(); });
}

bool ColdEntries::next(ColdStore::Cursor& cursor) {
    return guarded(name_, [&] { return cursor.next(); });
}

ColdStore::Checkpoint ColdEntries::checkpoint() {
    write_changes();
    guarded(name_, [this] {
        if (checkpoints_) {
            checkpoints_->make(snapshot_);
        } else {
            (void)store_->checkpoint(snapshot_);
        }
    });
    return {snapshot_, replica_};
}

}  // namespace strid::operators
