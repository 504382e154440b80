// SPDX-License-Identifier: Apache-2.0
//
// Tasks of a run that parse the ranges of a source, each with a copy of the source: what does not
// depend on the kind of source. range_parsers.hpp has the rest.
//
// Threads: the source, and in their steps the workers of the tasks. Invariant: the pattern of the
// copies changes while no range is in the queue only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <strid/engine/connector/parsed_range.hpp>
#include <strid/engine/connector/range_queue.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

class RangeTasks {
  public:
    /// The copy of the source of one task.
    class Copy {
      public:
        Copy() = default;
        Copy(const Copy&) = delete;
        Copy& operator=(const Copy&) = delete;
        virtual ~Copy() = default;
        /// The pattern is another one: makes the copy anew.
        virtual void renew() = 0;
        /// Between two ranges: lets go of memory of rows that have left.
        virtual void rest() noexcept = 0;
        virtual void parse(ParsedRange& range) = 0;
    };
    using MakePlace = std::function<std::unique_ptr<ParsedRange>()>;
    using MakeCopy = std::function<std::unique_ptr<Copy>()>;

    /// Adds the tasks to the run.
    RangeTasks(const TasksWanted& wanted, std::size_t ranges, const MakePlace& make_place,
               const MakeCopy& make_copy);
    RangeTasks(const RangeTasks&) = delete;
    RangeTasks& operator=(const RangeTasks&) = delete;
    ~RangeTasks();

    /// Where the ranges go.
    [[nodiscard]] RangeQueue& queue() noexcept { return queue_; }
    /// The source, while the queue is empty: the copies are renewed.
    void pattern_changed() noexcept { ++patterns_; }

  private:
    class Parser;

    std::vector<std::unique_ptr<ParsedRange>> places_;
    RangeQueue queue_;
    std::uint64_t patterns_ = 0;  // so many there were
    std::vector<std::unique_ptr<Parser>> parsers_;
};

}  // namespace strid
