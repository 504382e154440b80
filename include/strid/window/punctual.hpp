// SPDX-License-Identifier: Apache-2.0
//
// Takes the late records out of a stream before several replicas have each record of it. How far
// time has come each of these learns for itself, so that of several inputs, or of one that was
// idle, one replica would take what another calls late. Behind one replica of this stage nothing
// is late.
//
// Late records are counted, and dropped unless they have a way of their own (`keeps_late`). One
// comparison for each record.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include <strid/base/time.hpp>
#include <strid/operator/agreed_time.hpp>
#include <strid/operator/late_output.hpp>
#include <strid/operator/stage.hpp>
#include <strid/window/result.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

/// Late is what breaks the promise of its own input, in every run the same; and what the watermark
/// has passed while its input was idle. Both by more than the lateness.
struct LateByPromise {
    Duration lateness;

    [[nodiscard]] EventTime late_before(EventTime promised, EventTime passed) const noexcept {
        return std::max(promised, passed) - lateness;
    }
    [[nodiscard]] static bool is_missed(EventTime) noexcept { return true; }
};

/// Late is a record all of whose windows are closed; by its own input also one of whose windows is
/// over, by more than the lateness, by what that input has promised.
struct LateByWindows {
    TimeWindows windows;
    Duration lateness;
    LateBy late_by = LateBy::slowest_input;

    [[nodiscard]] EventTime late_before(EventTime promised, EventTime passed) const noexcept {
        const EventTime closed = windows.bounds(windows.end_over(passed - lateness)).start;
        if (late_by == LateBy::slowest_input) return closed;
        const auto next = windows.end_over(promised - lateness);
        if (next == std::numeric_limits<TimeWindows::Index>::min()) return closed;  // none is over
        return std::max(closed, windows.bounds(next - 1).end);
    }
    /// Not what lies between two windows.
    [[nodiscard]] bool is_missed(EventTime time) const noexcept {
        return windows.containing(time).size() > 0;
    }
};

template <class T, class TimeOf, class Rule, bool keeps_late>
class Punctual {
  public:
    using Out = operators::LateOutput<T, T, keeps_late>;
    static constexpr bool selective = true;
    static constexpr bool passes_records = true;

    Punctual(TimeOf time_of, Rule rule) : time_of_(std::move(time_of)), rule_(std::move(rule)) {}

    /// For the engine (operator/agreed_time.hpp).
    auto& time_of() noexcept { return time_of_; }
    /// What the sender of the records that follow has promised.
    void begin_batch(EventTime promised, std::size_t) noexcept {
        late_before_ = rule_.late_before(promised, passed_);
    }

    template <class Next>
    void operator()(T& record, Next&& next) {
        const EventTime time = time_of_(record);
        if (time < late_before_ && rule_.is_missed(time)) [[unlikely]] {
            ++late_;
            return Out::late(next, record);
        }
        Out::result(next, std::move(record));
    }

    template <class Next, class Ready>
    bool advance(EventTime watermark, Next&&, Ready&&) noexcept {
        passed_ = watermark;
        return true;
    }
    [[nodiscard]] std::uint64_t take_late() noexcept { return std::exchange(late_, 0); }

  private:
    [[no_unique_address]] operators::AgreedTime<TimeOf> time_of_;
    [[no_unique_address]] Rule rule_;
    EventTime passed_ = EventTime::earliest();       // by all that is active
    EventTime late_before_ = EventTime::earliest();  // of the batch at hand
    std::uint64_t late_ = 0;
};

}  // namespace strid::window
