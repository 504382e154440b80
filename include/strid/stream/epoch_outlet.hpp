// SPDX-License-Identifier: Apache-2.0
//
// EpochOutlet: an outlet of a graph that takes snapshots. Each record comes with its epoch, which
// is the number of the snapshot that it lies before, and with its own number. The records that a
// snapshot lies behind and that were not popped are in the snapshot, so that each is popped at
// least once, after any number of kills.
//
// With `.committed` a record is popped when its snapshot is stored: then neither its epoch nor its
// number will ever change, and a reader that keeps the number of the last record beside its effect
// has each effect once. Without, records behind the last stored snapshot may come again in other
// epochs, and those that were popped after it in its own. A reader that keeps the epoch and the
// number beside each effect has each effect once, too: at a start it drops the effects of the
// epochs behind goes_on_behind(), and then passes over the numbers up to the last that stands.
//
// Threads: one pops. A record counts as handled when the next is popped. One task is the graph's
// side. Invariant: records leave in the order of their numbers.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/engine/base/type_name.hpp>
#include <strid/engine/state/layouts.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/runtime/task.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/codec.hpp>
#include <strid/stream/outlet.hpp>

namespace strid {

/// The options of Stream::epoch_outlet.
struct EpochOutletOptions {
    /// Records are popped when the snapshot behind them is stored. A snapshot is taken at once when
    /// `capacity_records` wait for one, except after one that could not be stored: then the
    /// outlet, when it is full, takes no records until the next one begins.
    bool committed = false;
    /// A full outlet causes back-pressure; 0 means 1. If committed, it also holds those that are on
    /// their way in the graph when it is full.
    std::size_t capacity_records = 1024;
};

/// A record that an EpochOutlet hands out.
template <class T>
struct OfEpoch {
    T record;                  ///< The record.
    std::uint64_t epoch = 0;   ///< The number of the snapshot behind it.
    std::uint64_t number = 0;  ///< Of the record, from 0 on, over all runs.
};

namespace operators {

/// The records between the graph and the reader; also a result of the run, which snapshots keep.
template <class T>
class EpochQueue final : public RunScope::Result {
  public:
    explicit EpochQueue(const EpochOutletOptions& options)
        : is_committed_(options.committed),
          capacity_(std::max<std::size_t>(options.capacity_records, 1)) {}

    // ---- the reader ----
    std::optional<OfEpoch<T>> pop(bool waits) {
        std::unique_lock lock{mutex_};
        in_hand_ = {};  // it is handled
        if (waits) filled_.wait(lock, [this] { return ended_ || has_visible(); });
        if (!has_visible()) return std::nullopt;
        std::optional<OfEpoch<T>> found{std::move(records_.front())};
        records_.pop_front();
        in_hand_ = {found->epoch, bytes_of(*found)};
        if (std::exchange(refused_, false) && task_ != nullptr) task_->notify();
        return found;
    }
    [[nodiscard]] std::uint64_t goes_on_behind() {
        const std::lock_guard lock{mutex_};
        return behind_;
    }

    // ---- the sink ----
    void open(const Opened& opened) {
        RunScope* const run = opened.context.run;
        if (run == nullptr || !run->takes_snapshots()) {
            throw GraphError(
                "an outlet by epoch is of a run that takes snapshots "
                "(RunOptions::snapshots), and this one takes none");
        }
        const std::lock_guard lock{mutex_};
        if (run_ != nullptr) {
            throw GraphError("an outlet by epoch serves one run: build the graph anew");
        }
        name_ = "outlet " + std::string(opened.context.name);
        run_ = run;
        task_ = &opened.task;
        behind_ = run->before().behind;
        epoch_ = run->before().last + 1;
        visible_ = is_committed_ ? epoch_ - 1 : every_epoch;
        if (const auto* const bytes = run->prepared(name_)) load(*bytes);
    }
    [[nodiscard]] bool accepts() {
        const std::lock_guard lock{mutex_};
        if (records_.size() < capacity_) return true;
        // Only a snapshot makes room then: the records in front of its barrier are let in.
        // After a failure, one that begins by itself.
        if (!has_visible() && !is_storing_ && !has_failed_) {
            if (!std::exchange(has_asked_, true)) run_->request_snapshot();
            return true;
        }
        refused_ = true;
        return false;
    }
    void push(T&& record) {
        const std::lock_guard lock{mutex_};
        if (ended_) return;
        records_.push_back({std::move(record), epoch_, next_++});
        if (!is_committed_) filled_.notify_one();
    }
    void begin_snapshot(std::uint64_t number) {
        const std::lock_guard lock{mutex_};
        epoch_ = number + 1;
        cut_ = next_;
        has_asked_ = false;
        is_storing_ = is_committed_;
    }
    void close() {
        if (!is_committed_) end();
    }
    void end() noexcept {
        const std::lock_guard lock{mutex_};
        task_ = nullptr;
        ended_ = true;
        filled_.notify_all();
    }

    // ---- the run ----
    [[nodiscard]] std::string name() const override { return name_; }
    void prepare(std::uint64_t snapshot, StateWriter& writer) override {
        const std::lock_guard lock{mutex_};
        writer.text(layout({}).first);
        writer.number(epoch_ > snapshot ? cut_ : next_);
        const bool has_in_hand = !in_hand_.bytes.empty() && in_hand_.epoch <= snapshot;
        std::size_t count = has_in_hand ? 1 : 0;
        for (const auto& one : records_) count += one.epoch <= snapshot ? 1 : 0;
        writer.length(count);
        if (has_in_hand) writer.bytes(in_hand_.bytes);
        for (const auto& one : records_) {
            if (one.epoch <= snapshot) save(writer, one);
        }
    }
    void snapshot_begins(std::uint64_t /*snapshot*/) noexcept override {
        const std::lock_guard lock{mutex_};
        if (!std::exchange(has_failed_, false)) return;
        has_asked_ = true;
        if (std::exchange(refused_, false) && task_ != nullptr) task_->notify();
    }
    void snapshot_ended(std::uint64_t snapshot, bool is_stored) noexcept override {
        const std::lock_guard lock{mutex_};
        is_storing_ = false;
        has_failed_ = !is_stored;
        if (is_committed_ && is_stored) visible_ = snapshot;
        if (std::exchange(refused_, false) && task_ != nullptr) task_->notify();
        filled_.notify_all();
    }
    void commit() override { end(); }
    void discard() noexcept override { end(); }

  private:
    static constexpr std::uint64_t every_epoch = std::numeric_limits<std::uint64_t>::max();

    [[nodiscard]] bool has_visible() const noexcept {
        return !records_.empty() && records_.front().epoch <= visible_;
    }
    static void save(StateWriter& writer, const OfEpoch<T>& one) {
        writer.number(one.epoch);
        writer.number(one.number);
        state::save(writer, one.record);
    }
    static std::vector<std::byte> bytes_of(const OfEpoch<T>& one) {
        StateBytes bytes;
        StateWriter writer{bytes};
        save(writer, one);
        writer.flush();
        return bytes.take();
    }
    /// The type of the records, as a program would write it that has stored this text.
    static std::pair<std::string, state::StoredVersions> layout(std::string_view stored) {
        state::Layouts layouts{stored};
        layouts.add<T>();
        return {type_name<T>() + layouts.text(), layouts.versions()};
    }
    void load(const std::vector<std::byte>& bytes) {
        StateReader reader{bytes};
        const std::string stored(reader.text());
        const auto [type, versions] = layout(stored);
        if (type != stored) {
            throw StateError("the records that were not popped are of the type " + stored +
                             ", and those of the graph are of " + type);
        }
        reader.use(versions);
        next_ = reader.number();
        for (std::size_t left = reader.length(); left != 0; --left) {
            const std::uint64_t epoch = reader.number();
            const std::uint64_t number = reader.number();
            records_.push_back({state::loaded<T>(reader), epoch, number});
        }
        reader.expect_end();
    }

    struct InHand {
        std::uint64_t epoch = 0;
        std::vector<std::byte> bytes;  // of the record that was popped last
    };

    const bool is_committed_;
    const std::size_t capacity_;
    std::string name_;         // from open() on
    RunScope* run_ = nullptr;  // from open() on
    std::mutex mutex_;
    std::condition_variable filled_;
    // Under the mutex:
    std::deque<OfEpoch<T>> records_;
    InHand in_hand_;
    std::uint64_t next_ = 0;     // the number of the next record
    std::uint64_t cut_ = 0;      // that of the first behind the last barrier
    std::uint64_t epoch_ = 1;    // of the next record
    std::uint64_t visible_ = 0;  // records up to this epoch may be popped
    std::uint64_t behind_ = 0;
    bool is_storing_ = false;  // the snapshot behind the epoch before
    bool has_asked_ = false;   // for the next one
    bool has_failed_ = false;  // the last snapshot, and the next has not begun
    bool refused_ = false;     // the graph waits for room
    bool ended_ = false;
    runtime::Task* task_ = nullptr;
};

/// The graph's side of an EpochOutlet.
template <class T>
class EpochOutletSink {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, SnapshotBegins, Closed, CutOff>,
                                           .has = Has::accepts,
                                           .one_replica = true};

    explicit EpochOutletSink(std::shared_ptr<EpochQueue<T>> queue)
        : queue_(std::move(queue)), graph_(when_gone([queue = queue_] { queue->end(); })) {}

    void on(const Opened& opened) {
        queue_->open(opened);
        opened.context.run->add(queue_);
        session_ = when_gone([queue = queue_] { queue->end(); });
    }
    [[nodiscard]] bool accepts() { return queue_->accepts(); }
    void operator()(T&& record) { queue_->push(std::move(record)); }
    void on(SnapshotBegins snapshot) { queue_->begin_snapshot(snapshot.number); }
    void on(Closed) { queue_->close(); }
    void on(CutOff) noexcept { queue_->end(); }
    /// The records are in a result of the run, which outlives the node; this has their type, by
    /// which a snapshot of another one is refused.
    auto state() { return std::tie(type_); }

  private:
    std::shared_ptr<EpochQueue<T>> queue_;
    std::shared_ptr<void> graph_;
    std::shared_ptr<void> session_;
    std::vector<T> type_;  // empty
};

/// Records can be kept for their reader by snapshots.
template <class T>
consteval bool takes_epochs() {
    static_assert(state::has_codec<T>() && std::is_default_constructible_v<T>,
                  "the records of an outlet by epoch have a codec (strid/state/codec.hpp) and a "
                  "default constructor: a record that points elsewhere, as to a text, has none");
    return state::has_codec<T>() && std::is_default_constructible_v<T>;
}

}  // namespace operators

/// Pops the records of Stream::epoch_outlet. Threads: one pops, any.
template <class T>
class EpochOutlet {
  public:
    /// Made by Stream::epoch_outlet.
    explicit EpochOutlet(std::shared_ptr<operators::EpochQueue<T>> queue)
        : queue_(std::move(queue)) {}

    /// Waits for a record. Empty when all were popped and the stream has ended, or the run was
    /// stopped at a snapshot, was cancelled or has failed. The record that was popped before it
    /// counts as handled: no run hands it out again that goes on from a later snapshot.
    [[nodiscard]] std::optional<OfEpoch<T>> pop() { return queue_->pop(true); }
    /// Does not wait; empty when there is no record now.
    [[nodiscard]] std::optional<OfEpoch<T>> try_pop() { return queue_->pop(false); }
    /// From start() on: the epoch that the run goes on behind; 0: it begins anew. Records of later
    /// epochs that an earlier run has handed out come again; so may those of earlier ones that were
    /// popped after the snapshot, with the same number.
    [[nodiscard]] std::uint64_t goes_on_behind() const { return queue_->goes_on_behind(); }

  private:
    std::shared_ptr<operators::EpochQueue<T>> queue_;
};

}  // namespace strid
