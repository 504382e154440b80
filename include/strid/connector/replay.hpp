// SPDX-License-Identifier: Apache-2.0
//
// Records held in memory and emitted again and again: a vector, or the records of another source,
// which is read once to its end. All replicas and copies share the records. Replica i of n emits
// the i-th of n equal parts in each pass, so every pass emits each record once. The text that
// records point to is kept until the source is destroyed and no batch refers to it any more. One
// thread at a time for each replica; fraction_done() by any.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/connector/pace.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/memory/text_arena.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/operator/source.hpp>

namespace strid {

/// How often and how fast records are emitted again.
struct ReplayOptions {
    std::chrono::nanoseconds duration{0};  ///< from the first poll; 0: no limit
    std::uint64_t passes = 0;              ///< 0: one, or with a duration without end
    double rate_per_second = 0;            ///< of all replicas together; 0: full speed
    /// The greatest memory for the records of a source and the text that they point to. More is an
    /// InputOutputError. 0: half of the memory of the machine.
    std::size_t bytes_max = 0;
};

/// Half of the memory of the machine.
[[nodiscard]] std::size_t half_of_memory_bytes() noexcept;

namespace operators {

/// Polls an opened source, whose records `into` takes, until it is finished. False: it was stopped
/// before. Blocks.
template <class Source, class Into>
bool poll_to_end(Source& source, Into& into, const std::stop_token& stop) {
    const std::stop_callback end_blocking{stop, [&source] { notify_source(source, Stopped{}); }};
    constexpr std::size_t budget = 4096;
    while (!stop.stop_requested()) {
        const SourceStatus status = source.poll(into, budget);
        if (status == SourceStatus::finished) return true;
        if (status == SourceStatus::more) continue;
        std::int64_t wake_at_ns = 0;
        if constexpr (has<Source, Has::wake_at_ns>) wake_at_ns = source.wake_at_ns();
        const std::int64_t wait_ns = std::clamp<std::int64_t>(wake_at_ns - now_ns(), 0, 1'000'000);
        std::this_thread::sleep_for(std::chrono::nanoseconds(wait_ns));
    }
    return false;
}

}  // namespace operators

namespace detail {

[[noreturn]] void refuse_recording(std::size_t bytes_max);
[[noreturn]] void refuse_other_recording(std::size_t before, std::size_t now);

// Records with the chunks they point to; filled once.
template <class T>
struct Recording {
    struct Run {
        std::size_t begin;  // the first record that points into the chunk
        memory::TextReference chunk;
    };

    // The emitter of a source while it is being read.
    bool operator()(T&& record) {
        if (records.size() == records.capacity()) grow(1);
        records.push_back(std::move(record));
        return true;
    }
    bool operator()(const T& record) { return (*this)(T(record)); }
    std::size_t all(std::span<const T> more) {
        if (more.size() > records.capacity() - records.size()) grow(more.size());
        records.insert(records.end(), more.begin(), more.end());
        return more.size();
    }
    void keep_alive(const memory::TextReference& chunk) {
        if (!runs.empty() && runs.back().chunk == chunk) return;
        text_bytes += chunk->capacity();
        check_room(records.capacity());
        runs.push_back({records.size(), chunk});
    }
    void clear() {
        records = {};
        runs = {};
        text_bytes = malformed = 0;
    }
    /// Doubles the room, up to what is allowed.
    void grow(std::size_t more) {
        const std::size_t needed = records.size() + more;
        check_room(needed);
        const std::size_t most = (bytes_max - std::min(bytes_max, text_bytes)) / sizeof(T);
        records.reserve(std::clamp(2 * records.size(), needed, std::max(needed, most)));
    }
    void check_room(std::size_t count) const {
        if (count <= (bytes_max - std::min(bytes_max, text_bytes)) / sizeof(T)) return;
        refuse_recording(bytes_max);
    }
    void ingress_at(std::int64_t /*ns*/) noexcept {}
    void count_malformed(std::uint64_t count) { malformed += count; }

    std::vector<T> records;
    std::vector<Run> runs;
    std::uint64_t malformed = 0;
    std::size_t text_bytes = 0;  // of the chunks
    std::size_t bytes_max = 0;   // of both; more is refused
    /// Reads all records; false where it was stopped, and has none. Empty: nothing is to be read.
    std::function<bool(Recording&, const Opened&)> load;
    std::vector<FileUse> files;  // of what is read
    std::mutex loading;
};

template <class T, class Source>
bool record_all(Source source, Recording<T>& recording, const Opened& opened) {
    if constexpr (operators::has<Source, Has::keep_all_text>) source.keep_all_text();
    const Context alone{.name = {}, .run = opened.context.run};
    operators::notify_source(source, Opened{alone, opened.task, opened.stop});
    recording.clear();
    if (operators::poll_to_end(source, recording, opened.stop)) return true;
    recording.clear();
    return false;
}

}  // namespace detail

/// The source that `replay` makes.
template <class T>
class Replay {
  public:
    using record_type = T;
    /// Its hooks and members that the engine calls.
    static constexpr SourceTraits traits{.hears = events<Opened, Restored>,
                                         .has = Has::wake_at_ns | Has::fraction_done | Has::files};

    /// Made by `replay`.
    Replay(std::shared_ptr<detail::Recording<T>> recording, ReplayOptions options)
        : recording_(std::move(recording)), options_(options), pace_(options.rate_per_second) {
        if (options_.passes == 0 && options_.duration.count() == 0) options_.passes = 1;
    }

    /// The first replica reads the source that was given; throws what that throws. Where it is
    /// stopped there are no records, until it is opened again.
    void on(const Opened& opened) {
        auto& recording = *recording_;
        {
            const std::lock_guard lock{recording.loading};
            if (recording.load && recording.load(recording, opened)) {
                recording.load = nullptr;
            }
        }
        const std::size_t count = recording.records.size();
        replica_ = opened.context.replica;
        parallelism_ = opened.context.parallelism;
        begin_ = share(count, replica_);
        end_ = share(count, replica_ + 1);
        position_ = begin_;
        pass_ = emitted_ = 0;
        elapsed_ns_ = 0;
        count_ = count;
        started_ = false;
    }
    /// Throws InputOutputError where the records are not as many as they were.
    void on(Restored) {
        if (count_ != recording_->records.size()) {
            detail::refuse_other_recording(count_, recording_->records.size());
        }
    }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        const bool timed = pace_.limited() || options_.duration.count() > 0;
        const std::int64_t now = timed ? now_ns() : 0;
        if (!std::exchange(started_, true)) begin(emit, now);
        elapsed_ns_ = now - start_ns_;
        if (is_over(now)) return SourceStatus::finished;
        while (budget > 0) {
            if (position_ == end_) {
                ++pass_;
                position_ = begin_;
                if (is_over(now)) return SourceStatus::finished;
            }
            const std::size_t stop = std::min(keep_run_alive(emit), position_ + budget);
            const std::size_t first = position_;
            const bool go_on = pace_.limited() ? emit_due(emit, stop, now) : emit_all(emit, stop);
            budget -= position_ - first;
            if (!go_on) break;
        }
        const bool early = pace_.limited() && pace_.due_ns(emitted_) > now;
        return early ? SourceStatus::idle : SourceStatus::more;
    }

    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        return pace_.limited() ? pace_.due_ns(emitted_) : 0;
    }
    [[nodiscard]] double fraction_done() const noexcept { return fraction_done_.load(); }
    [[nodiscard]] const std::vector<FileUse>& files() const noexcept { return recording_->files; }
    auto state() { return std::tie(position_, pass_, emitted_, elapsed_ns_, count_); }
    /// After on(const Opened&): how many records one pass of all replicas has.
    [[nodiscard]] std::size_t size() const noexcept { return recording_->records.size(); }

  private:
    [[nodiscard]] std::size_t share(std::size_t count, std::size_t replica) const noexcept {
        return count / parallelism_ * replica + std::min(replica, count % parallelism_);
    }

    template <class Emit>
    void begin(Emit& emit, std::int64_t now) {
        start_ns_ = now - elapsed_ns_;
        pace_.start(start_ns_, replica_, parallelism_);
        const std::uint64_t malformed = recording_->malformed;
        const bool is_first = pass_ == 0 && position_ == begin_;
        if (replica_ == 0 && malformed > 0 && is_first) emit.count_malformed(malformed);
    }

    bool is_over(std::int64_t now) noexcept {
        const bool at_end = position_ == end_;
        const std::uint64_t passes_done = pass_ + (at_end ? 1 : 0);
        const auto elapsed_ns = now - start_ns_;
        if (begin_ == end_ || (options_.passes > 0 && passes_done >= options_.passes) ||
            (options_.duration.count() > 0 && elapsed_ns >= options_.duration.count())) {
            fraction_done_.store(1);
            return true;
        }
        double fraction = 0;
        if (options_.passes > 0) {
            const double part =
                static_cast<double>(position_ - begin_) / static_cast<double>(end_ - begin_);
            fraction = (static_cast<double>(pass_) + part) / static_cast<double>(options_.passes);
        }
        if (options_.duration.count() > 0) {
            fraction = std::max(fraction, static_cast<double>(elapsed_ns) /
                                              static_cast<double>(options_.duration.count()));
        }
        fraction_done_.store(fraction);
        return false;
    }

    // Names the chunk of the record at position_; returns where the next chunk's records begin.
    template <class Emit>
    std::size_t keep_run_alive(Emit& emit) {
        const auto& runs = recording_->runs;
        if (runs.empty()) return end_;
        auto next = std::upper_bound(
            runs.begin(), runs.end(), position_,
            [](std::size_t position, const auto& run) { return position < run.begin; });
        if (next != runs.begin()) emit.keep_alive(std::prev(next)->chunk);
        return next == runs.end() ? end_ : std::min(end_, next->begin);
    }

    template <class Emit>
    bool emit_all(Emit& emit, std::size_t stop) {
        const std::span<const T> records(recording_->records.data() + position_, stop - position_);
        if constexpr (requires { emit.all(records); }) {
            const std::size_t emitted = emit.all(records);
            position_ += emitted;
            return emitted == records.size();
        } else {
            for (const T& record : records) {
                ++position_;
                if (!emit(record)) return false;
            }
            return true;
        }
    }

    template <class Emit>
    bool emit_due(Emit& emit, std::size_t stop, std::int64_t now) {
        const T* const records = recording_->records.data();
        while (position_ != stop) {
            const std::int64_t due_ns = pace_.due_ns(emitted_);
            if (due_ns > now) return false;
            ++emitted_;
            emit.ingress_at(due_ns);
            if (!emit(records[position_++])) return false;
        }
        return true;
    }

    std::shared_ptr<detail::Recording<T>> recording_;
    ReplayOptions options_;
    Pace pace_;
    std::size_t replica_ = 0;
    std::size_t parallelism_ = 1;
    std::size_t begin_ = 0;  // this replica's share of the records
    std::size_t end_ = 0;
    std::size_t position_ = 0;
    std::uint64_t pass_ = 0;
    std::uint64_t emitted_ = 0;  // of a limited rate
    std::int64_t start_ns_ = 0;
    std::int64_t elapsed_ns_ = 0;  // as the last poll has seen it; the records' pace goes on there
    std::size_t count_ = 0;        // of the records of all replicas
    bool started_ = false;
    SharedFraction fraction_done_;
};

/// The records of a vector, copied, in passes.
template <class T>
[[nodiscard]] Replay<T> replay(std::vector<T> records, ReplayOptions options = {}) {
    auto recording = std::make_shared<detail::Recording<T>>();
    recording->records = std::move(records);
    return Replay<T>(std::move(recording), options);
}

/// All records of `source`, which is read to its end before the first record, from memory in
/// passes.
template <class Source>
    requires requires { typename Source::record_type; }
[[nodiscard]] Replay<typename Source::record_type> replay(Source source,
                                                          ReplayOptions options = {}) {
    using T = typename Source::record_type;
    auto recording = std::make_shared<detail::Recording<T>>();
    recording->files = operators::files_of(source);
    recording->bytes_max = options.bytes_max != 0 ? options.bytes_max : half_of_memory_bytes();
    recording->load = [source = std::move(source)](detail::Recording<T>& into,
                                                   const Opened& opened) {
        if constexpr (operators::has<Source, Has::blocks>) {
            const RunScope* const run = opened.context.run;
            if (run != nullptr && run->takes_snapshots() && source.blocks()) {
                throw Error("replayed records of a pipe cannot be read once more by the next run");
            }
        }
        return detail::record_all<T>(source, into, opened);
    };
    return Replay<T>(std::move(recording), options);
}

/// The records of a vector, once.
template <class T>
[[nodiscard]] Replay<T> from_vector(std::vector<T> records) {
    return replay(std::move(records));
}

}  // namespace strid
