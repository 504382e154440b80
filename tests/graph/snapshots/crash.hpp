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
    std::string file;           // written so far
    std::string result;         // that has its name
    std::uint64_t commits = 0;  // of the result

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

/// Keeps snapshots; a crash comes before one is stored, or behind it. One whose checkpoints are
/// gone is passed over, as in a folder (SnapshotFolder).
class StoreInWorld final : public SnapshotStore {
  public:
    explicit StoreInWorld(std::shared_ptr<World> world) : world_(std::move(world)) {}
    [[nodiscard]] std::vector<std::uint64_t> numbers() const override {
        std::vector<std::uint64_t> found;
        for (const Snapshot& one : world_->snapshots) found.push_back(one.description.number);
        return found;
    }
    [[nodiscard]] std::optional<Snapshot> newest(const SnapshotWarning& warn,
                                                 const SnapshotFault& fault_of) const override {
        for (auto one = world_->snapshots.rbegin(); one != world_->snapshots.rend(); ++one) {
            whole_ = one->description.number;
            const std::string fault = fault_of(one->description);
            if (fault.empty()) return *one;
            warn(fault);
        }
        if (!world_->snapshots.empty()) throw StateError("all are damaged");
        return std::nullopt;
    }
    void store(const Snapshot& snapshot) override {
        world_->call();
        {
            const std::lock_guard lock(world_->mutex);
            std::erase_if(world_->snapshots,
                          [this](const Snapshot& one) { return one.description.number != whole_; });
            world_->snapshots.push_back(snapshot);
            whole_ = snapshot.description.number;
        }
        world_->call();
    }

  private:
    std::shared_ptr<World> world_;
    mutable std::uint64_t whole_ = 0;  // the newest one that is
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
