// SPDX-License-Identifier: Apache-2.0
//
// Any source at an open-loop rate: its records are emitted at the times of the timetable, with the
// due time as ingress time. Threads as in the source that it wraps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/connector/pace.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/state_size.hpp>
#include <strid/memory/text_arena.hpp>
#include <strid/operator/source.hpp>

namespace strid {

/// The source that `paced` makes of another: the same records, each when it is due.
template <class Source>
class Paced {
  public:
    using record_type = typename Source::record_type;
    /// Its hooks and members that the engine calls.
    static constexpr SourceTraits traits{
        .hears = events<Opened, Restored, Stopped> |
                 Source::traits.hears.template among<SnapshotBegins>(),
        .has = Has::wake_at_ns | Has::blocks | Has::files | Has::fraction_done | Has::bytes_read |
               Has::is_journalled,
        .drains = Source::traits.drains,
        .awaits_outside = Source::traits.awaits_outside,
        .no_snapshots = Source::traits.no_snapshots};

    /// `rate_per_second` is of all replicas together. Throws GraphError for one below 0.
    Paced(Source source, double rate_per_second)
        : source_(std::move(source)), pace_(rate_per_second) {}

    void on(const Opened& opened) {
        replica_ = opened.context.replica;
        replicas_ = opened.context.parallelism;
        if constexpr (operators::has<Source, Has::replicas_used>) {
            replicas_ = source_.replicas_used(replicas_);
        }
        emitted_ = 0;
        started_ = false;
        operators::notify_source(source_, opened);
    }
    void on(Restored restored) { operators::notify_source(source_, restored); }
    void on(SnapshotBegins snapshot)
        requires operators::Hears<Source, SnapshotBegins>
    {
        source_.on(snapshot);
    }
    void on(Stopped stopped) noexcept { operators::notify_source(source_, stopped); }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (!pace_.limited()) {
            wake_at_ns_ = 0;
            return source_.poll(emit, budget);
        }
        const std::int64_t now = now_ns();
        if (!std::exchange(started_, true)) pace_.start(now, replica_, replicas_);
        std::size_t due = 0;
        while (due < budget && pace_.due_ns(emitted_ + due) <= now) ++due;
        if (due > 0) {
            TimedEmit<Emit> timed{emit, *this};
            wake_at_ns_ = 0;
            const SourceStatus status = source_.poll(timed, due);
            if (status != SourceStatus::more || due == budget) return status;
        }
        const std::int64_t next_ns = pace_.due_ns(emitted_);
        if (next_ns <= now) return SourceStatus::more;  // it gave fewer than it was asked for
        wake_at_ns_ = next_ns;
        return SourceStatus::idle;
    }

    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        if constexpr (operators::has<Source, Has::wake_at_ns>) {
            return std::max(wake_at_ns_, source_.wake_at_ns());
        } else {
            return wake_at_ns_;
        }
    }
    [[nodiscard]] bool blocks() const noexcept {
        if constexpr (operators::has<Source, Has::blocks>) {
            return source_.blocks();
        } else {
            return false;
        }
    }
    [[nodiscard]] bool is_journalled() const noexcept {
        if constexpr (operators::has<Source, Has::is_journalled>) {
            return source_.is_journalled();
        } else {
            return false;
        }
    }
    [[nodiscard]] std::vector<FileUse> files() const { return operators::files_of(source_); }
    [[nodiscard]] double fraction_done() const noexcept {
        if constexpr (operators::has<Source, Has::fraction_done>) {
            return source_.fraction_done();
        } else {
            return -1;
        }
    }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept {
        if constexpr (operators::has<Source, Has::bytes_read>) {
            return source_.bytes_read();
        } else {
            return 0;
        }
    }
    /// The pace begins anew where another source goes on.
    auto state() { return operators::state_of(source_); }

  private:
    template <class Emit>
    struct TimedEmit {
        Emit& emit;
        Paced& paced;

        bool operator()(record_type&& record) {
            emit.ingress_at(paced.pace_.due_ns(paced.emitted_++));
            return emit(std::move(record));
        }
        bool operator()(const record_type& record) { return (*this)(record_type(record)); }
        std::size_t all(std::span<const record_type> records) {
            std::size_t emitted = 0;
            while (emitted != records.size() && (*this)(records[emitted++])) {
            }
            return emitted;
        }
        void keep_alive(const memory::TextReference& chunk) { emit.keep_alive(chunk); }
        void ingress_at(std::int64_t /*ns*/) noexcept {}  // the timetable decides
        void count_malformed(std::uint64_t count) { emit.count_malformed(count); }
    };

    Source source_;
    Pace pace_;
    std::size_t replica_ = 0;
    std::size_t replicas_ = 1;
    std::uint64_t emitted_ = 0;
    std::int64_t wake_at_ns_ = 0;
    bool started_ = false;
};

/// The records of `source` at `rate_per_second` (of all replicas together; 0: full speed).
template <class Source>
[[nodiscard]] Paced<Source> paced(Source source, double rate_per_second) {
    return Paced<Source>(std::move(source), rate_per_second);
}

}  // namespace strid
