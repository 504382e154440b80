// SPDX-License-Identifier: Apache-2.0
//
// A source is an object that the engine polls. The engine owns the loop, so a source never blocks a
// worker, can be stopped between two polls, and runs under the simulation.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include <strid/base/file_use.hpp>
#include <strid/base/time.hpp>
#include <strid/memory/text_arena.hpp>
#include <strid/operator/context.hpp>

namespace strid {

/// The result of a poll.
enum class [[nodiscard]] SourceStatus : std::uint8_t {
    more,     ///< poll again as soon as there is room
    idle,     ///< nothing is due now; `wake_at_ns()` may return when something will be
    finished  ///< the last record was emitted; never poll again
};

namespace operators {

/// The shape of the emitter that a source is polled with. Concepts use it in place of the engine's
/// own, which is a template over the fused chain behind the source.
template <class T>
struct EmitProbe {
    bool operator()(T&&) const { return true; }
    bool operator()(const T&) const { return true; }
    std::size_t all(std::span<const T> records) const { return records.size(); }
    void keep_alive(const memory::TextReference&) const {}
    void ingress_at(std::int64_t) const {}
    void count_malformed(std::uint64_t) const {}
    void watermark(EventTime) const {}
    void idle() const {}
};

}  // namespace operators

/// A source of records of `record_type`. Copied for each replica before `open`; polled by one
/// thread at a time until it returns `finished`.
///
/// `poll(emit, budget)` emits at most about `budget` records and returns its status. `emit(r)`
/// always takes the record: it moves from it, or copies a constant. If it returns false, the poll
/// should return `more` soon: each further record takes memory beyond the bound of the output, and
/// RunOptions::fan_out_bytes_max of it end the run. `emit.all(records)` copies consecutive records,
/// which is faster, and returns how many; fewer than all mean the same as false.
///
/// A source that has its own watermarks emits them between two records, if the stream has
/// `event_time(time_of, SourceTime{})`. After `emit.watermark(time)` a record with an event time
/// below `time` is late; a watermark that goes back throws WatermarkError. After `emit.idle()` the
/// source holds no other back, until its next watermark.
///
/// Optional: `open(const Context&)`, or `open(const Context&, const std::stop_token&)` if it takes
/// long and ends early when the token requests it; `wake_at_ns()`; `blocks()` (a poll may block:
/// own thread; asked before `open`); `fraction_done()`, 0 to 1, negative: unknown; `bytes_read()`,
/// in all up to now; `files()`, a range of FileUse, so that a run that would write to its input is
/// refused. `open` is called by the thread that starts the run, for one replica after the other.
///
/// Optional: `void stop() noexcept`, called once when the run is stopped, cancelled or has failed,
/// so that a poll that blocks returns. It is called by the thread that ends the run, at the same
/// time as `poll()`; also from inside a poll, if an operator behind the source in the same task
/// ends the run; and maybe after the last poll. It must signal `poll()` by its own means (an
/// atomic, a pipe), must not wait for it, and must neither stop nor cancel the run. A stopped
/// source is not polled again, unless it has `static constexpr bool drains = true`: then it is
/// polled until it returns `finished`, to deliver the records it has accepted.
template <class S>
concept Source =
    std::copy_constructible<S> &&
    requires(S& source, operators::EmitProbe<typename S::record_type>& emit, std::size_t budget) {
        typename S::record_type;
        { source.poll(emit, budget) } -> std::same_as<SourceStatus>;
    };

namespace operators {

/// Whether the source is polled after a stop, too.
template <class S>
inline constexpr bool drains_when_stopped = requires { requires S::drains; };

/// Calls the source's `stop`, if it has one. Any thread.
template <class S>
void stop_source(S& source) noexcept {
    if constexpr (requires { source.stop(); }) {
        static_assert(noexcept(source.stop()), "stop() of a source must be noexcept");
        source.stop();
    }
}

/// The files that a source or a sink reads and writes, if it has `files()`.
template <class F>
[[nodiscard]] std::vector<FileUse> files_of(const F& function) {
    if constexpr (requires { function.files(); }) {
        const auto& files = function.files();
        return {files.begin(), files.end()};
    } else {
        return {};
    }
}

/// Calls the source's `open`, if it has one.
template <class S>
void open_source(S& source, const Context& context, const std::stop_token& stop) {
    if constexpr (requires { source.open(context, stop); }) {
        source.open(context, stop);
    } else if constexpr (requires { source.open(context); }) {
        source.open(context);
    }
}

}  // namespace operators
}  // namespace strid
