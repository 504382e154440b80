// SPDX-License-Identifier: Apache-2.0
//
// Tasks of a run that parse the ranges of a source (RangeTasks), each with a copy of the source
// that is as the source was when its format was settled. A part of the source; a copy of the source
// has none.
//
// `Source` derives from FileSource and has `record_type` and `parse(ParsedRows<record_type>&)`,
// which calls parse_apart(). One whose copies keep memory for rows hides FileSource::rest() and
// FileSource::take_rows_of().
//
// Threads as in RangeTasks.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <strid/engine/connector/parsed_rows.hpp>
#include <strid/engine/connector/range_tasks.hpp>
#include <strid/operator/contract.hpp>

namespace strid {

template <class Source>
class RangeParsers {
  public:
    RangeParsers() = default;
    RangeParsers(const RangeParsers& /*other*/) noexcept {}
    RangeParsers(RangeParsers&&) noexcept = default;
    RangeParsers& operator=(const RangeParsers&) = delete;
    ~RangeParsers() = default;

    /// Adds the tasks to the run. Returns where ranges go.
    RangeQueue* begin(const TasksWanted& wanted, std::size_t ranges) {
        pattern_ = std::make_unique<std::unique_ptr<const Source>>();
        tasks_ = std::make_unique<RangeTasks>(
            wanted, ranges, [] { return std::make_unique<Rows>(); },
            [this] { return std::make_unique<Copy>(*pattern_); });
        return &tasks_->queue();
    }
    /// The text of an input begins.
    void forget_pattern() noexcept {
        if (tasks_ && tasks_->queue().empty()) pattern_->reset();
    }
    /// The format is settled: ranges may be parsed by copies of this.
    void set_pattern(const Source& source) {
        if (*pattern_) return;
        *pattern_ = std::make_unique<const Source>(source);
        tasks_->pattern_changed();
    }
    void close() noexcept {
        if (tasks_) tasks_->queue().close();
    }

  private:
    using Rows = ParsedRows<typename Source::record_type>;
    class Copy final : public RangeTasks::Copy {
      public:
        explicit Copy(const std::unique_ptr<const Source>& pattern) : pattern_(&pattern) {}
        void renew() override {
            Source fresh(**pattern_);
            if (source_) fresh.take_rows_of(*source_);
            source_.emplace(std::move(fresh));
        }
        void rest() noexcept override {
            if (source_) source_->rest();
        }
        void parse(ParsedRange& range) override { source_->parse(static_cast<Rows&>(range)); }

      private:
        const std::unique_ptr<const Source>* pattern_;
        std::optional<Source> source_;
    };

    // Both are null where the source reads all itself. The copies refer to the pattern.
    std::unique_ptr<std::unique_ptr<const Source>> pattern_;
    std::unique_ptr<RangeTasks> tasks_;
};

}  // namespace strid
