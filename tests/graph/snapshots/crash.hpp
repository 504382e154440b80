// SPDX-License-Identifier: Apache-2.0
//
// A world in which a run crashes: anything that is not stored is lost with it. A store of snapshots
// and a disk with one file in memory, a source that knows its place, and operators that crash when
// a count of calls has run out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/state_share.hpp>
#include <strid/base/time.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/operator/source.hpp>
#include <strid/state/codec.hpp>
#include <strid/state/snapshot_folder.hpp>

namespace strid::test {

struct Crash : std::runtime_error {
    Crash() : std::runtime_error("crash") {}
};

/// All that outlives a crash, and when the next one comes.
struct World {
    std::mutex mutex;
    // Under mutex:
    std::uint64_t calls_left = 0;  // 0: no crash
    bool has_crashed = false;      // nothing is done any more
    std::vector<Snapshot> snapshots;
    std::set<std::uint64_t> damaged;  // of these
    std::string file;                 // written so far
    std::string result;               // that has its name
    std::uint64_t commits = 0;        // of the result

    /// Once in a while the process ends here.
    void call() {
        const std::lock_guard lock(mutex);
        if (has_crashed) throw Crash();
        if (calls_left != 0 && --calls_left == 0) {
            has_crashed = true;
            throw Crash();
        }
    }
    void begin_process(std::uint64_t calls) {
        const std::lock_guard lock(mutex);
        calls_left = calls;
        has_crashed = false;
    }
    [[nodiscard]] bool is_over() {
        const std::lock_guard lock(mutex);
        return has_crashed;
    }
};

/// Keeps snapshots; a crash comes before one is stored, or behind it. One that is damaged, or
/// builds on such a one, or whose checkpoints are gone, is passed over, as in a folder
/// (SnapshotFolder). A chain has so many snapshots of changes at most.
class StoreInWorld final : public SnapshotStore {
    using Numbers = std::vector<std::uint64_t>;

  public:
    explicit StoreInWorld(std::shared_ptr<World> world, std::size_t changes_max = 0)
        : world_(std::move(world)), changes_max_(changes_max) {}
    [[nodiscard]] Numbers numbers() const override {
        Numbers found;
        for (const Snapshot& one : world_->snapshots) found.push_back(one.description.number);
        return found;
    }
    [[nodiscard]] std::optional<Snapshot> newest(const SnapshotWarning& warn,
                                                 const SnapshotFault& fault_of) const override {
        for (auto one = world_->snapshots.rbegin(); one != world_->snapshots.rend(); ++one) {
            chain_ = chain_of(*one);
            const bool is_damaged = std::any_of(
                chain_.begin(), chain_.end(),
                [this](std::uint64_t number) { return world_->damaged.contains(number); });
            const std::string fault = is_damaged ? "is damaged" : fault_of(one->description);
            if (!fault.empty()) {
                warn(fault);
                continue;
            }
            std::vector<Snapshot> all;
            for (const Snapshot& snapshot : world_->snapshots) {
                if (is_in(chain_, snapshot.description.number)) all.push_back(snapshot);
            }
            return joined(std::move(all));
        }
        if (!world_->snapshots.empty()) throw StateError("all are damaged");
        return std::nullopt;
    }
    void store(const Snapshot& snapshot) override {
        world_->call();
        {
            const std::lock_guard lock(world_->mutex);
            if (snapshot.description.builds_on == 0) before_ = std::exchange(chain_, {});
            chain_.push_back(snapshot.description.number);
            changes_ = chain_.size() - 1;
            std::erase_if(world_->snapshots, [this](const Snapshot& one) {
                return !is_in(chain_, one.description.number) &&
                       !is_in(before_, one.description.number);
            });
            world_->snapshots.push_back(snapshot);
        }
        world_->call();
    }
    [[nodiscard]] bool takes_changes() const override { return changes_ < changes_max_; }
    [[nodiscard]] std::uint64_t oldest_needed() const override {
        return before_.empty() ? chain_.front() : before_.back();
    }

  private:
    static bool is_in(const Numbers& numbers, std::uint64_t number) {
        return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
    }
    [[nodiscard]] Numbers chain_of(const Snapshot& last) const {
        Numbers chain;
        std::uint64_t next = last.description.number;
        for (auto one = world_->snapshots.rbegin(); one != world_->snapshots.rend(); ++one) {
            if (one->description.number != next) continue;
            chain.insert(chain.begin(), next);
            next = one->description.builds_on;
        }
        if (next != 0) throw std::logic_error("a snapshot is gone that another one builds on");
        return chain;
    }

    std::shared_ptr<World> world_;
    std::size_t changes_max_;
    std::size_t changes_ = 0;
    mutable Numbers chain_;  // of the last one
    Numbers before_;         // to fall back to
};

/// The file of a run, which is cut where its snapshot was.
class FileInWorld final : public RunScope::Result {
  public:
    explicit FileInWorld(std::shared_ptr<World> world) : world_(std::move(world)) {}

    void open(RunScope& run) {
        const std::lock_guard lock(world_->mutex);
        if (users_++ != 0) return;
        std::uint64_t length = 0;
        if (const auto* const bytes = run.prepared("file")) {
            StateReader reader{*bytes};
            length = state::loaded<std::uint64_t>(reader);
        }
        if (length > world_->file.size()) throw std::logic_error("rows are lost");
        world_->file.resize(length);
    }
    void append(const std::string& rows, std::uint64_t snapshot) {
        const std::lock_guard lock(world_->mutex);
        (snapshot > snapshot_ ? behind_ : world_->file) += rows;
    }
    void begin_snapshot(std::uint64_t number) {
        const std::lock_guard lock(world_->mutex);
        next_ = number;
        ++users_behind_;
        end_snapshot();
    }
    void close(std::uint64_t snapshot) {
        const std::lock_guard lock(world_->mutex);
        --users_;
        if (snapshot > snapshot_) --users_behind_;
        end_snapshot();
    }

    [[nodiscard]] std::string name() const override { return "file"; }
    void prepare(std::uint64_t snapshot, StateWriter& writer) override {
        world_->call();
        const std::lock_guard lock(world_->mutex);
        const std::uint64_t all = world_->file.size();
        state::save(writer, snapshot == snapshot_ ? length_ : all);
    }
    void commit() override {
        world_->call();
        const std::lock_guard lock(world_->mutex);
        world_->result = world_->file;
        ++world_->commits;
    }
    void discard() noexcept override {}

  private:
    void end_snapshot() {
        if (next_ == 0 || users_behind_ != users_) return;
        length_ = world_->file.size();
        snapshot_ = std::exchange(next_, 0);
        users_behind_ = 0;
        world_->file += std::exchange(behind_, {});
    }

    std::shared_ptr<World> world_;
    std::size_t users_ = 0;
    std::size_t users_behind_ = 0;
    std::uint64_t next_ = 0;
    std::uint64_t snapshot_ = 0;
    std::uint64_t length_ = 0;  // at that one
    std::string behind_;
};

/// The sink: a row for each record.
template <class T>
class WriteInWorld {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, SnapshotBegins, Closed>,
                                           .parallel_by_default = true,
                                           .stateless = true};

    using ToText = std::string (*)(const T&);

    WriteInWorld(std::shared_ptr<World> world, std::shared_ptr<FileInWorld> file, ToText to_text)
        : world_(std::move(world)), file_(std::move(file)), to_text_(to_text) {}

    void on(const Opened& opened) {
        snapshot_ = 0;
        opened.context.run->add(file_);
        file_->open(*opened.context.run);
    }
    void operator()(const T& record) {
        world_->call();
        file_->append(to_text_(record) + "\n", snapshot_);
    }
    void on(SnapshotBegins snapshot) {
        file_->begin_snapshot(snapshot.number);
        snapshot_ = snapshot.number;
    }
    void on(Closed) { file_->close(snapshot_); }

  private:
    std::shared_ptr<World> world_;
    std::shared_ptr<FileInWorld> file_;
    ToText to_text_;
    std::uint64_t snapshot_ = 0;
};

struct Number {
    std::uint32_t key = 0;
    std::uint32_t source = 0;
    std::int64_t number = 0;
    EventTime time;
};

/// Numbers whose key and time follow from them; each replica emits its own.
class NumbersInWorld {
  public:
    using record_type = Number;
    static constexpr SourceTraits traits{.hears = events<Opened>};

    NumbersInWorld(std::shared_ptr<World> world, std::uint32_t source, std::int64_t count,
                   std::uint32_t keys)
        : world_(std::move(world)), source_(source), count_(count), keys_(keys) {}

    void on(const Opened& opened) {
        step_ = static_cast<std::int64_t>(opened.context.parallelism);
        next_ = static_cast<std::int64_t>(opened.context.replica);
    }
    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && next_ < count_; --budget) {
            world_->call();
            Number one{hash(1) % keys_, source_, next_,
                       EventTime::of_ns(10 * next_ + static_cast<std::int64_t>(hash(2) % 50))};
            next_ += step_;
            if (!emit(std::move(one))) break;
        }
        return next_ < count_ ? SourceStatus::more : SourceStatus::finished;
    }
    auto state() { return std::tie(next_); }

  private:
    [[nodiscard]] std::uint32_t hash(std::uint32_t salt) const {
        std::mt19937 random(static_cast<std::uint32_t>(next_) * 7 + salt + source_ * 1'000'003);
        return static_cast<std::uint32_t>(random());
    }

    std::shared_ptr<World> world_;
    std::uint32_t source_;
    std::int64_t count_;
    std::uint32_t keys_;
    std::int64_t next_ = 0;
    std::int64_t step_ = 1;
};

/// Passes records on, and crashes when it is time.
template <class T>
struct Passing {
    std::shared_ptr<World> world;
    T operator()(const T& record) const {
        world->call();
        return record;
    }
};

/// Adds up the numbers that its replica gets, and emits the sum at the end.
class PartialSum : public OperatorTypes<Number, std::int64_t> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "partial-sum", .emits = Emits::any_number, .hears = events<Ended>};

    explicit PartialSum(std::shared_ptr<World> world) : world_(std::move(world)) {}
    void process(Number& one, auto& /*emit*/) {
        world_->call();
        sum_ += one.number + 1;
    }
    void on(Ended, auto& emit) {
        auto sum = sum_;
        emit(sum);
    }
    auto state() { return std::tie(sum_); }
    void merge_state(const PartialSum& other) { sum_ += other.sum_; }
    // A part for each replica, and what is left for the first.
    void split_state(StateShare share) {
        const auto replicas = static_cast<std::int64_t>(share.replicas);
        sum_ = sum_ / replicas + (share.replica == 0 ? sum_ % replicas : 0);
    }

  private:
    std::shared_ptr<World> world_;
    std::int64_t sum_ = 0;
};

/// The lines of a text without those that are equal.
inline std::string sorted_rows(const std::string& text) {
    std::istringstream lines(text);
    std::set<std::string> rows;
    for (std::string row; std::getline(lines, row);) rows.insert(row + '\n');
    return std::accumulate(rows.begin(), rows.end(), std::string{});
}

}  // namespace strid::test
