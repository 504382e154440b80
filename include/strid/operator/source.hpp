// SPDX-License-Identifier: Apache-2.0
//
// What a source is: an object that the engine polls. The engine owns the loop, so a source never
// blocks a worker, can be stopped between two polls, and runs under the simulation.
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

/// What a poll found.
enum class [[nodiscard]] SourceStatus : std::uint8_t {
    more,     ///< poll again as soon as there is room
    idle,     ///< nothing is due now; `wake_at_ns()` may say when something will be
    finished  ///< the last record was emitted; never poll again
};

namespace operators {

/// The shape of the emitter that a source is polled with; stands in for the engine's own (a
/// template over the fused chain behind the source) where a concept needs some type to ask with.
template <class T>
struct EmitProbe {
    bool operator()(T&&) const { return true; }
    bool operator()(const T&) const { return true; }
    std::size_t all(std::span<const T> records) const { return records.size(); }
    void keep_alive(const memory::TextReference&) const {}
    void born_at(std::int64_t) const {}
    void count_malformed(std::uint64_t) const {}
    void watermark(EventTime) const {}
    void idle() const {}
};

}  // namespace operators

/// A source of records of `record_type`. Copied for each replica before `open`; polled by one
/// thread at a time for as long as the answer is not `finished`.
///
/// `poll(emit, budget)` emits about `budget` records at most and says what it found. `emit(r)`
/// always takes the record, by moving from it or, where it is a constant, as a copy; where it
/// returns false the poll should return `more` soon. `emit.all(records)` takes copies of records
/// that lie together, faster, and returns of how many; fewer than all mean what false means for
/// one.
///
/// A source that knows how far its time has come says so between two records, where the stream has
/// `event_time(time_of, SourceTime{})`: after `emit.watermark(time)` what happened before `time` is
/// late; one that goes back throws WatermarkError. After `emit.idle()` it holds nobody back, until
/// its next watermark.
///
/// Optional: `open(const Context&)`, or `open(const Context&, const std::stop_token&)` of one that
/// takes long and ends early where the token says so; `wake_at_ns()`, `blocks()` (a poll may block:
/// own thread), `fraction_done()`, `bytes_read()`; `files()`, a range of FileUse, so that a run is
/// refused that would write to what it reads.
///
/// Optional: `void stop() noexcept`, called once when the run is stopped, cancelled or has failed,
/// so that a poll that blocks returns: by the thread that does so, at the same time as `poll()`,
/// also from inside a poll where what is behind the source in the same task calls it, and maybe
/// after the last poll. It says so to `poll()` by means of its own (an atomic, a pipe), does not
/// wait for it, and neither stops nor cancels the run. A stopped source is not polled again, unless
/// it has `static constexpr bool drains = true`: then until it answers `finished`, for what it has
/// promised to deliver.
template <class S>
concept Source =
    std::copy_constructible<S> &&
    requires(S& source, operators::EmitProbe<typename S::record_type>& emit, std::size_t budget) {
        typename S::record_type;
        { source.poll(emit, budget) } -> std::same_as<SourceStatus>;
    };

namespace operators {

/// Whether the source is polled after a stop too.
template <class S>
inline constexpr bool drains_when_stopped = requires { requires S::drains; };

/// Calls the source's `stop`, where it has one. Any thread.
template <class S>
void stop_source(S& source) noexcept {
    if constexpr (requires { source.stop(); }) {
        static_assert(noexcept(source.stop()), "stop() of a source must be noexcept");
        source.stop();
    }
}

/// The files that a source or a sink reads and writes, where it says so.
template <class F>
[[nodiscard]] std::vector<FileUse> files_of(const F& function) {
    if constexpr (requires { function.files(); }) {
        const auto& files = function.files();
        return {files.begin(), files.end()};
    } else {
        return {};
    }
}

/// Calls the source's `open`, where it has one.
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
