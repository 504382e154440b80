// SPDX-License-Identifier: Apache-2.0
//
// The results of windows as rows of CSV. Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <strid/connector/csv_value.hpp>

#include "table_results.hpp"
#include "table_row.hpp"

namespace strid::tool {

class TableText {
  public:
    explicit TableText(std::shared_ptr<const TablePlan> plan) : plan_(std::move(plan)) {}

    [[nodiscard]] std::string result_header() const;

    /// Appends the result of one window, without the newline. Those of many keys follow each other
    /// with the same bounds.
    template <class Result>
    void append(std::string& out, const Result& result) {
        append_key(out, result.key);
        const auto start = number_of(result.window.start);
        const auto end = number_of(result.window.end);
        if (bounds_.empty() || start != start_ || end != end_) {
            start_ = start;
            end_ = end;
            bounds_.clear();
            append_bound(bounds_, result.window.start);
            bounds_ += ',';
            append_bound(bounds_, result.window.end);
            if (end > plan_->format.latest_end.load(std::memory_order_relaxed)) {
                plan_->format.latest_end.store(end, std::memory_order_relaxed);  // one writer
            }
        }
        out += bounds_;
        append_result(out, *plan_, seconds_of(result.window), result.value);
    }

  private:
    void append_key(std::string& out, std::string_view key) const {
        visit_key(key, plan_->keys.size(), [&out](std::string_view text) {
            append_csv_field(out, text, ',');
            out += ',';
        });
    }
    static std::int64_t number_of(EventTime bound) { return bound.ns(); }
    static std::int64_t number_of(std::uint64_t bound) { return static_cast<std::int64_t>(bound); }
    void append_bound(std::string& out, EventTime bound) const {
        if (!plan_->format.may_need_quotes()) return append_time(out, bound, plan_->format);
        std::string text;
        append_time(text, bound, plan_->format);
        append_csv_field(out, text, ',');
    }
    void append_bound(std::string& out, std::uint64_t position) const {
        detail::append_csv_value(out, position, ',');
    }

    std::shared_ptr<const TablePlan> plan_;
    std::int64_t start_ = 0;  // what bounds_ says; nothing where it is empty
    std::int64_t end_ = 0;
    std::string bounds_;
};

}  // namespace strid::tool
