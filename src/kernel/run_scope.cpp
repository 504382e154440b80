// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <utility>

#include <strid/operator/run_scope.hpp>

namespace strid {

RunScope::~RunScope() {
    for (const auto& result : results_) {
        if (takes_snapshots_) {
            result->suspend();
        } else {
            result->discard();
        }
    }
}

void RunScope::add(std::shared_ptr<Result> result) {
    const std::lock_guard lock(mutex_);
    if (std::find(results_.begin(), results_.end(), result) != results_.end()) return;
    results_.push_back(std::move(result));
}

std::vector<std::shared_ptr<RunScope::Result>> RunScope::results() {
    const std::lock_guard lock(mutex_);
    return results_;
}

void RunScope::snapshot_begins(std::uint64_t snapshot) {
    for (const auto& result : results()) result->snapshot_begins(snapshot);
}

void RunScope::end_snapshot(std::uint64_t snapshot, bool is_stored) {
    for (const auto& result : results()) result->snapshot_ended(snapshot, is_stored);
}

std::vector<SnapshotCheckpoint> RunScope::checkpoints(std::uint64_t snapshot) {
    std::vector<SnapshotCheckpoint> made;
    for (const auto& result : results()) {
        if (auto one = result->checkpoint(snapshot)) made.push_back(std::move(*one));
    }
    return made;
}

RunScope::Prepared RunScope::prepare(std::uint64_t snapshot) {
    Prepared prepared;
    for (const auto& result : results()) {
        const std::string name = result->name();
        if (name.empty()) continue;
        StateBytes bytes;
        StateWriter writer{bytes};
        result->prepare(snapshot, writer);
        writer.flush();
        prepared[name] = bytes.take();
    }
    return prepared;
}

void RunScope::warn(const std::string& text) {
    const std::lock_guard lock(warning_);
    if (warn_) warn_(text);
}

void RunScope::commit() {
    {
        const std::lock_guard lock(mutex_);
        committed_ = std::exchange(results_, {});
    }
    std::exception_ptr failure;
    for (const auto& result : committed_) {
        try {
            result->commit();
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

void RunScope::finish() {
    for (const auto& result : committed_) {
        try {
            result->finish();
        } catch (const std::exception& error) {
            warn(error.what());
        }
    }
    committed_.clear();
}

}  // namespace strid
