// SPDX-License-Identifier: Apache-2.0
#include "snapshots.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/version.hpp>
#include <strid/engine/base/thread_name.hpp>

namespace strid {

namespace {

std::string name_of(const SnapshotNode& node) {
    return fmt::format("operator '{}', replica {} of {}", fmt::join(node.operators, "' and '"),
                       node.replica + 1, node.parallelism);
}

/// In one sentence what differs; empty: nothing.
std::string difference(const SnapshotNode& now, const SnapshotNode& before) {
    if (now.operators != before.operators) {
        return fmt::format("it has {}, where now is {}", name_of(before), name_of(now));
    }
    if (now.parallelism != before.parallelism) {
        return fmt::format("operator '{}' had {} replicas, and has {} now (--parallelism)",
                           fmt::join(now.operators, "' and '"), before.parallelism,
                           now.parallelism);
    }
    for (std::size_t i = 0; i != std::min(now.types.size(), before.types.size()); ++i) {
        if (now.types[i] == before.types[i]) continue;
        return fmt::format("the state of operator '{}' was of the type {}, and is of {} now",
                           now.operators[i], before.types[i], now.types[i]);
    }
    return {};
}

}  // namespace

Snapshots::Snapshots(const SnapshotOptions& options, std::string graph,
                     std::vector<operators::Node*> nodes, std::vector<runtime::Task*> polling,
                     RunScope& scope, runtime::Execution& execution)
    : options_(options),
      graph_(std::move(graph)),
      nodes_(std::move(nodes)),
      polling_(std::move(polling)),
      scope_(scope),
      execution_(execution),
      folder_((check_part(), options.folder)),
      states_(nodes_.size()),
      ended_(nodes_.size(), false) {
    if (const auto numbers = folder_.numbers(); !numbers.empty()) number_ = numbers.back();
    if (!options_.restart) {
        before_ = folder_.newest([this](const std::string& text) { warn(text); });
    }
    if (before_) check_same(before_->description);
    scope_.go_on_with(before_ ? std::exchange(before_->description.results, {})
                              : RunScope::Prepared{});
    for (std::size_t i = 0; i != nodes_.size(); ++i) nodes_[i]->take_part(*this, i, number_);
    ask({number_, false});  // which they have taken part in
}

void Snapshots::check_part() const {
    if (options_.every <= std::chrono::nanoseconds::zero()) {
        throw GraphError("the time from one snapshot to the next must be positive");
    }
    std::vector<std::string> faults;
    for (const operators::Node* const node : nodes_) {
        for (const std::string& fault : node->no_snapshot()) {
            if (std::find(faults.begin(), faults.end(), fault) == faults.end()) {
                faults.push_back(fault);
            }
        }
    }
    if (faults.empty()) return;
    throw GraphError(
        fmt::format("this graph can take no snapshots: {}", fmt::join(faults, "; ")));
}

void Snapshots::check_same(const SnapshotDescription& before) const {
    const std::string where = fmt::format("the snapshots in {} ", options_.folder);
    if (before.is_finished) {
        throw GraphError(where +
                         "are of a run that has reached its end: --restart begins anew, "
                         "and so does another folder");
    }
    const SnapshotDescription now = description();
    std::string found;
    for (std::size_t i = 0; i != std::min(now.nodes.size(), before.nodes.size()) && found.empty();
         ++i) {
        found = difference(now.nodes[i], before.nodes[i]);
    }
    if (found.empty() && now.nodes.size() != before.nodes.size()) {
        const auto& more = now.nodes.size() > before.nodes.size() ? now.nodes : before.nodes;
        found = fmt::format("{} is {}", name_of(more[std::min(now.nodes.size(),
                                                              before.nodes.size())]),
                            now.nodes.size() > before.nodes.size() ? "new" : "not there any more");
    }
    if (!found.empty()) throw GraphError(where + "are of another graph: " + found);
}

SnapshotDescription Snapshots::description() const {
    SnapshotDescription described;
    described.graph = graph_;
    described.program = std::string(library_version());
    for (std::size_t i = 0; i != nodes_.size(); ++i) {
        const operators::Node& node = *nodes_[i];
        described.nodes.push_back({.operators = node.operator_names(),
                                   .types = node.types_of_state(),
                                   .replica = node.replica(),
                                   .parallelism = node.parallelism(),
                                   .has_ended = ended_[i]});
    }
    return described;
}

void Snapshots::restore() {
    if (!before_) return;
    for (std::size_t i = 0; i != nodes_.size(); ++i) {
        const SnapshotNode& saved = before_->description.nodes[i];
        if (saved.has_ended) {
            nodes_[i]->restore_as_ended();
            continue;
        }
        StateReader reader{before_->states[i]};
        try {
            nodes_[i]->restore(reader);
        } catch (const StateError& error) {
            throw StateError(
                fmt::format("{}: {}: {}", options_.folder, name_of(saved), error.what()));
        }
        before_->states[i] = {};
    }
    before_.reset();
}

void Snapshots::begin() {
    const std::lock_guard lock(mutex_);
    is_working_ = true;
    thread_ = std::thread([this] { work(); });
}

void Snapshots::end() noexcept {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Snapshots::work() {
    detail::name_this_thread("strid-snapshots");
    std::unique_lock lock(mutex_);
    const auto is_asked = [this] { return is_over_ || last_is_asked_ || asked_ != answered_; };
    while (!is_over_) {
        changed_.wait_for(lock, options_.every, is_asked);
        if (is_over_) break;
        const std::uint64_t asked = asked_;
        const bool is_last = last_is_asked_;
        const bool stored = take(is_last ? Kind::last : Kind::usual, lock);
        answered_ = asked;
        changed_.notify_all();
        if (!is_last) continue;
        last_is_stored_ = stored;
        is_over_ = true;
        is_working_ = false;
        lock.unlock();
        changed_.notify_all();
        // Without its last snapshot a run goes on from the one before.
        execution_.cancel();
        return;
    }
    is_working_ = false;
    changed_.notify_all();
}

bool Snapshots::take(Kind kind, std::unique_lock<std::mutex>& lock) {
    std::fill(states_.begin(), states_.end(), std::nullopt);
    missing_ = static_cast<std::size_t>(std::count(ended_.begin(), ended_.end(), false));
    ask({++number_, kind == Kind::last});
    lock.unlock();
    for (runtime::Task* const task : polling_) task->notify();
    lock.lock();
    changed_.wait(lock, [this] { return is_over_ || missing_ == 0; });
    if (missing_ != 0) return false;
    Snapshot snapshot{description(), {}};
    for (std::size_t i = 0; i != nodes_.size(); ++i) {
        // One that has saved its state and ended since is as it was when it saved it.
        snapshot.description.nodes[i].has_ended = !states_[i].has_value();
        snapshot.states.push_back(std::exchange(states_[i], std::nullopt).value_or(
            std::vector<std::byte>{}));
        snapshot.description.state_bytes += snapshot.states.back().size();
    }
    lock.unlock();
    std::string fault;
    try {
        snapshot.description.number = number_;
        snapshot.description.taken_ns =
            std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
        snapshot.description.results = scope_.prepare();
        folder_.store(snapshot);
    } catch (const std::exception& error) {
        fault = error.what();
        warn(fmt::format("a snapshot could not be stored: {}", fault));
    }
    lock.lock();
    fault_ = fault;
    return fault.empty();
}

void Snapshots::saved(std::size_t node, std::vector<std::byte> state) {
    {
        const std::lock_guard lock(mutex_);
        states_[node] = std::move(state);
        if (--missing_ != 0) return;
    }
    changed_.notify_all();
}

void Snapshots::ended(std::size_t node) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (ended_[node]) return;
        ended_[node] = true;
        if (states_[node].has_value() || missing_ == 0 || --missing_ != 0) return;
    }
    changed_.notify_all();
}

bool Snapshots::take_now() {
    std::unique_lock lock(mutex_);
    const std::uint64_t mine = ++asked_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return is_over_ || !is_working_ || answered_ >= mine; });
    if (answered_ < mine) return false;
    if (!fault_.empty()) throw InputOutputError(fault_);
    return true;
}

bool Snapshots::take_last() noexcept {
    if (options_.drain) return false;
    {
        const std::lock_guard lock(mutex_);
        last_is_asked_ = true;
    }
    changed_.notify_all();
    return true;
}

// The thread may be storing a snapshot, which is as good as any.
bool Snapshots::run_is_over() noexcept {
    std::unique_lock lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_working_ || last_is_stored_; });
    return last_is_stored_;
}

void Snapshots::store_end() {
    store(false);
}

void Snapshots::store_finished() {
    store(true);
}

void Snapshots::store(bool is_finished) {
    Snapshot snapshot{description(), std::vector<std::vector<std::byte>>(nodes_.size())};
    for (SnapshotNode& node : snapshot.description.nodes) node.has_ended = true;
    snapshot.description.number = ++number_;
    snapshot.description.taken_ns =
        std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
    snapshot.description.is_finished = is_finished;
    if (!is_finished) snapshot.description.results = scope_.prepare();
    folder_.store(snapshot);
}

void Snapshots::warn(const std::string& text) const {
    if (options_.on_warning) options_.on_warning(text);
}

}  // namespace strid
