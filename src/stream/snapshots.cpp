// SPDX-License-Identifier: Apache-2.0
#include "snapshots.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/base/version.hpp>
#include <strid/engine/state/snapshot_requests.hpp>

#include "snapshot_events.hpp"

namespace strid {

namespace {

std::vector<operators::Node*> nodes_of(const std::vector<SnapshotSection>& sections) {
    std::vector<operators::Node*> all;
    for (const SnapshotSection& section : sections) {
        all.insert(all.end(), section.nodes.begin(), section.nodes.end());
    }
    return all;
}

/// The time, and the size of the states.
void stamp(Snapshot& snapshot) {
    snapshot.description.taken_ns =
        std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
    for (const StateBytes& state : snapshot.states) {
        snapshot.description.state_bytes += state.size();
    }
}

}  // namespace

Snapshots::Snapshots(const SnapshotOptions& options, std::string graph,
                     std::vector<SnapshotSection> sections, std::vector<runtime::Task*> polling,
                     RunScope& scope)
    : Task("snapshots"),
      options_(options),
      graph_(std::move(graph)),
      sections_(std::move(sections)),
      nodes_(nodes_of(sections_)),
      polling_(std::move(polling)),
      scope_(scope),
      states_(nodes_.size()),
      ended_(nodes_.size(), false),
      running_(nodes_.size()) {
    scope_.on_snapshot_request([this] {
        {
            const std::lock_guard lock(mutex_);
            ++asked_;
        }
        notify();
    });
    check_part();
    if (options_.store != nullptr) {
        store_ = options_.store;
    } else {
        folder_ = std::make_shared<SnapshotFolder>(options_.folder);
        store_ = folder_;
    }
    if (const auto numbers = store_->numbers(); !numbers.empty()) number_ = numbers.back();
    find_before();
    for (std::size_t i = 0; i != nodes_.size(); ++i) nodes_[i]->take_part(*this, i, number_);
    ask({.number = number_});  // which they have taken part in
}

SnapshotDescription Snapshots::description() const {
    SnapshotDescription described;
    described.graph = graph_;
    described.program = std::string(library_version());
    std::size_t at = 0;
    for (const SnapshotSection& section : sections_) {
        for (const operators::Node* const node : section.nodes) {
            described.nodes.push_back({.operators = node->operator_names(),
                                       .types = node->types_of_state({}),
                                       .replica = node->replica(),
                                       .parallelism = node->parallelism(),
                                       .is_by_key = section.is_by_key,
                                       .has_ended = ended_[at++]});
        }
    }
    return described;
}

void Snapshots::begin(runtime::Execution& execution) {
    execution_ = &execution;
    due_ns_ = now_ns();  // the first one names the files that are begun
    if (folder_ == nullptr || scope_.simulated()) return;
    try {
        requests_ = folder_->answer(
            [this]() -> std::string { return take_now() ? "" : "the run has ended before"; });
    } catch (const InputOutputError& error) {
        warn(fmt::format("`strid state save` does not reach this run: {}", error.what()));
    }
}

runtime::StepResult Snapshots::step(std::int64_t& clock_ns) {
    using enum runtime::StepResult;
    Lock lock(mutex_);
    if (is_taking_) {
        if (missing_ != 0) return waiting;
        complete_snapshot(lock);
        clock_ns = now_ns();
        const std::int64_t took_ns = clock_ns - begun_ns_;
        if (took_ns > options_.every.count() && !scope_.simulated()) {
            warn(fmt::format("snapshot {} took {:.3g} s, longer than {:.3g} s from one to the next",
                             number_, static_cast<double>(took_ns) / 1e9,
                             static_cast<double>(options_.every.count()) / 1e9));
        }
        due_ns_ = std::max(begun_ns_ + options_.every.count(), clock_ns);
        // Where all nodes have ended the stream has ended before the stop.
        if (is_last_ && running_ != 0) {
            lock.unlock();
            execution_->cancel();
            return finished;
        }
    }
    if (running_ == 0) {
        is_over_ = true;
        changed_.notify_all();
        return finished;
    }
    if (last_is_asked_ || asked_ != answered_ || clock_ns >= due_ns_ || scope_.simulated()) {
        begun_ns_ = clock_ns;
        lock.unlock();  // results may wait for those that request a snapshot
        scope_.snapshot_begins(number_ + 1);
        lock.lock();
        begin_snapshot();
        return missing_ == 0 ? progressed : waiting;
    }
    return timed;
}

void Snapshots::begin_snapshot() {
    std::fill(states_.begin(), states_.end(), std::nullopt);
    missing_ = running_;
    is_taking_ = true;
    is_last_ = last_is_asked_;
    taken_up_ = asked_;
    // Nodes know what has changed since the one before, and that must be there to build on.
    builds_on_ = stored_ != 0 && stored_ == number_ && store_->takes_changes() ? stored_ : 0;
    using enum operators::Saves;
    ask({++number_, is_last_, builds_on_ != 0 ? changes : all});
    for (runtime::Task* const task : polling_) task->notify();
}

/// All states are there.
Snapshot Snapshots::gathered() {
    Snapshot snapshot{description(), {}};
    for (std::size_t i = 0; i != nodes_.size(); ++i) {
        SnapshotNode& node = snapshot.description.nodes[i];
        // One that has saved its state and ended since is as it was when it saved it.
        node.has_ended = !states_[i].has_value();
        auto state = std::exchange(states_[i], std::nullopt).value_or(operators::SavedNode{});
        node.operator_bytes = std::move(state.operator_bytes);
        node.tables = std::move(state.tables);
        for (const SnapshotTable& table : node.tables) {
            if (table.has_changes_only) snapshot.description.builds_on = builds_on_;
        }
        snapshot.states.push_back(std::move(state.bytes));
    }
    return snapshot;
}

void Snapshots::complete_snapshot(Lock& lock) {
    Snapshot snapshot = gathered();
    lock.unlock();
    std::string fault;
    try {
        snapshot.description.number = number_;
        snapshot.description.checkpoints = scope_.checkpoints(number_);
        snapshot.description.results = scope_.prepare(number_);
        stamp(snapshot);
        store_->store(snapshot);
        stored_ = number_;
        scope_.stored(number_, store_->oldest_needed());
    } catch (const std::exception& error) {
        fault = error.what();
        warn(fmt::format("a snapshot could not be stored: {}", fault));
        scope_.not_stored(number_);
    }
    if (fault.empty()) log_stored(snapshot.description, begun_ns_);
    lock.lock();
    is_taking_ = false;
    answered_ = taken_up_;
    fault_ = fault;
    if (is_last_) {
        last_is_stored_ = fault.empty();
        is_over_ = true;
    }
    changed_.notify_all();
}

operators::SliceSize Snapshots::slice_size() const noexcept {
    // In the simulation records come between any two entries.
    return scope_.simulated() ? operators::SliceSize{.entries = 1} : operators::SliceSize{};
}

void Snapshots::saved(std::size_t node, operators::SavedNode state) {
    {
        const std::lock_guard lock(mutex_);
        states_[node] = std::move(state);
        if (--missing_ != 0) return;
    }
    notify();
}

void Snapshots::ended(std::size_t node) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (ended_[node]) return;
        ended_[node] = true;
        --running_;
        const bool was_missing = is_taking_ && !states_[node].has_value();
        if (was_missing) --missing_;
        if (running_ != 0 && !(was_missing && missing_ == 0)) return;
    }
    notify();
}

Snapshots::~Snapshots() = default;

bool Snapshots::take_now() {
    Lock lock(mutex_);
    if (is_over_) return false;
    const std::uint64_t mine = ++asked_;
    lock.unlock();
    notify();
    lock.lock();
    changed_.wait(lock, [&] { return is_over_ || answered_ >= mine; });
    if (answered_ < mine) return false;
    if (!fault_.empty()) throw InputOutputError(fault_);
    return true;
}

void Snapshots::end_requests() {
    (void)run_is_over();
    requests_.reset();
}

bool Snapshots::take_last() noexcept {
    if (options_.drain) return false;
    {
        const std::lock_guard lock(mutex_);
        last_is_asked_ = true;
    }
    notify();
    return true;
}

bool Snapshots::run_is_over() noexcept {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
    return last_is_stored_;
}

void Snapshots::store_end() {
    store(false);
}

void Snapshots::store_finished() {
    store(true);
}

void Snapshots::store(bool is_finished) {
    const std::int64_t begun_ns = now_ns();
    Snapshot snapshot{description(), std::vector<StateBytes>(nodes_.size())};
    for (SnapshotNode& node : snapshot.description.nodes) node.has_ended = true;
    snapshot.description.number = ++number_;
    snapshot.description.is_finished = is_finished;
    if (!is_finished) snapshot.description.results = scope_.prepare(number_);
    stamp(snapshot);
    store_->store(snapshot);
    scope_.stored(number_, store_->oldest_needed());
    log_stored(snapshot.description, begun_ns);
}

void Snapshots::warn(const std::string& text) const {
    scope_.warn(text);
}

}  // namespace strid
