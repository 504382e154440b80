// SPDX-License-Identifier: Apache-2.0
//
// How the time of a table goes on: behind the latest row by the disorder, in silence by the clock
// where that is asked for, or not before the end of the input. Plain values; one for each source.
#pragma once

#include <strid/base/watermark.hpp>

namespace strid::tool {

/// The options --disorder TIME or end, and --idle.
struct TimeProgress {
    Duration disorder = Duration::zero();
    bool waits_for_end = false;          // the disorder is not looked at
    Duration idle = Duration::zero();    // 0: time waits for rows
    Duration future = Duration::zero();  // 0: rows may lie in any future
};

/// A WatermarkStrategy: one for all of them, so that each kind of table is compiled once.
class TableTime {
  public:
    static constexpr bool never_goes_back = true;

    explicit TableTime(const TimeProgress& progress)
        : time_(BoundedDisorder{progress.disorder}, progress.idle),
          waits_for_end_(progress.waits_for_end) {}

    template <class Row>
    void observe(const Row& row, EventTime time) noexcept {
        time_.observe(row, time);
    }
    [[nodiscard]] EventTime watermark() const noexcept {
        return waits_for_end_ ? EventTime::earliest() : time_.watermark();
    }
    /// Windows up to the latest row are whole, whatever the disorder.
    void ended() noexcept {
        waits_for_end_ = false;
        time_.ended();
    }
    void silent_for(Duration silence) noexcept { time_.silent_for(silence); }
    [[nodiscard]] Duration next_silence(Duration reported) const noexcept {
        return time_.next_silence(reported);
    }

  private:
    InSilence<BoundedDisorder> time_;
    bool waits_for_end_;
};

}  // namespace strid::tool
