// SPDX-License-Identifier: Apache-2.0
//
// A source is an object that the engine polls. The engine owns the loop, so a source never blocks a
// worker, can be stopped between two polls, and runs under the simulation.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <strid/base/file_use.hpp>
#include <strid/base/time.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/memory/text_arena.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

/// The result of a poll.
enum class [[nodiscard]] SourceStatus : std::uint8_t {
    more,     ///< poll again as soon as there is room
    idle,     ///< nothing is due now; `wake_at_ns()` may return when something will be
    held,     ///< as `idle`, but records wait that cannot be emitted yet: this is no silence
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

/// A class that can be polled. It is a source if its traits agree with it, too
/// (engine/operator/contract_checks.hpp).
///
/// A source has `using record_type`, `static constexpr SourceTraits traits` and `SourceStatus
/// poll(auto& emit, std::size_t budget)`; operator/contract.hpp lists its hooks and other members.
/// It is copied for each replica before on(const Opened&), and polled by one thread at a time until
/// it returns `finished`.
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
/// A stopped source is not polled again, unless it has the trait `.drains`: then it is polled until
/// it returns `finished`, to deliver the records it has accepted.
template <class S>
concept Source =
    requires(S& source, operators::EmitProbe<typename S::record_type>& emit, std::size_t budget) {
        typename S::record_type;
        { source.poll(emit, budget) } -> std::same_as<SourceStatus>;
    };

namespace operators {

/// Stands for a source whose records were refused: no further error follows.
template <class T>
struct NoSource {
    using record_type = T;
    static constexpr SourceTraits traits{.hears = events<>};
    static SourceStatus poll(const auto& /*emit*/, std::size_t /*budget*/) noexcept {
        return SourceStatus::finished;
    }
};

/// Sends the source, which keeps the contract, an event that it may have a hook for.
template <class S, class Event>
void notify_source(S& source, const Event& event) {
    if constexpr (Hears<S, Event>) source.on(event);
}

/// The files that a source reads and writes, if it has `files()`.
template <class S>
[[nodiscard]] std::vector<FileUse> files_of(const S& source) {
    if constexpr (has<S, Has::files>) {
        const auto& files = source.files();
        return {files.begin(), files.end()};
    } else {
        return {};
    }
}

}  // namespace operators
}  // namespace strid
