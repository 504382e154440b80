// SPDX-License-Identifier: Apache-2.0
//
// Watermarks of a source that reads several splits at once: the partitions of a topic, the files of
// a folder, the sensors behind one socket. Each split has its own strategy, because time is
// disordered within a split far less than between splits. The watermark of the stream is the least
// of the splits' watermarks.
//
// A silent split would hold back the whole stream. It becomes idle after a number of records of
// other splits: counted, not timed, so that the same records give the same result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/watermark.hpp>

namespace strid {

namespace detail {
[[noreturn]] void throw_no_such_split(std::size_t index, std::size_t splits);
}

/// A WatermarkStrategy over splits; `split_of(record)` returns the split of a record, in [0,
/// splits). O(1) per record if its split is not the slowest, else O(splits). A split out of range
/// throws Error.
template <class Strategy, class SplitOf>
class SplitTime {
  public:
    /// Each split starts with a copy of `strategy`. With an `idle_after_records` of 0 no split is
    /// ever idle, and there is no watermark before each of them has had a record. Throws Error for
    /// no splits.
    SplitTime(std::size_t splits, SplitOf split_of, Strategy strategy,
              std::uint64_t idle_after_records = 0)
        : split_of_(std::move(split_of)),
          merge_(splits),
          splits_(splits, Split{std::move(strategy), 0}),
          idle_after_records_(idle_after_records) {}

    /// Takes the time of `record` into account for its split. Throws Error for a split that is out
    /// of range.
    template <class T>
        requires std::is_invocable_r_v<std::size_t, const SplitOf&, const T&>
    void observe(const T& record, EventTime time) {
        const std::size_t index = std::invoke(split_of_, record);
        if (index >= splits_.size()) detail::throw_no_such_split(index, splits_.size());
        Split& split = splits_[index];
        split.strategy.observe(record, time);
        split.last_record = ++records_;
        merge_.update(index, split.strategy.watermark());
        if (idle_after_records_ != 0 && records_ % idle_after_records_ == 0) find_idle();
    }
    /// The least watermark of the splits that are not idle.
    [[nodiscard]] EventTime watermark() const noexcept { return merge_.watermark(); }
    /// The watermark is the greatest that a split has at its end. More than once is as once.
    void ended() {
        if (std::exchange(has_ended_, true)) return;
        for (std::size_t index = 0; index < splits_.size(); ++index) {
            Strategy& strategy = splits_[index].strategy;
            if constexpr (requires { strategy.ended(); }) strategy.ended();
            merge_.update(index, strategy.watermark());
            merge_.set_ended(index);
        }
    }

  private:
    struct Split {
        Strategy strategy;
        std::uint64_t last_record;  // its position among the records of all splits, from 1
    };

    void find_idle() {
        for (std::size_t index = 0; index < splits_.size(); ++index) {
            if (records_ - splits_[index].last_record >= idle_after_records_) {
                merge_.set_idle(index);
            }
        }
    }

    SplitOf split_of_;
    WatermarkMerge merge_;
    std::vector<Split> splits_;
    std::uint64_t idle_after_records_;
    std::uint64_t records_ = 0;
    bool has_ended_ = false;
};

}  // namespace strid
