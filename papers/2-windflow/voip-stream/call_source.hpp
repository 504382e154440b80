// SPDX-License-Identifier: Apache-2.0
//
// A source of calls: rows of calling,called,start,duration,established. A row that is no call is
// malformed. One replica reads, as the order of the calls counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include <strid/engine/base/excerpt.hpp>

#include "apps/common/checked_rows.hpp"
#include "call.hpp"
#include "call_text.hpp"

namespace strid::apps::voip_stream {

/// A row as it stands in the file.
struct CallRow {
    std::string_view calling;
    std::string_view called;
    std::string_view start;
    std::int64_t duration;
    std::string_view established;
};

class CallCheck {
  public:
    using Row = CallRow;
    using Record = Call;
    static constexpr bool points_to_text = false;

    /// A start more than `jump_seconds` after the latest before it is refused.
    explicit CallCheck(std::int64_t jump_seconds) noexcept : jump_seconds_(jump_seconds) {}

    bool operator()(const CallRow& row, Call& call, std::string& fault) {
        const auto refuse = [&fault](std::string_view field, const auto& value,
                                     std::string_view why) {
            fault = fmt::format("{} '{}'{}", field, value, why);
            return false;
        };
        if (!from_csv(row.calling, call.calling)) [[unlikely]]
            return refuse("calling number", excerpt(row.calling), ": not 1 to 15 digits");
        if (!from_csv(row.called, call.called)) [[unlikely]]
            return refuse("called number", excerpt(row.called), ": not 1 to 15 digits");
        if (call.calling == call.called) [[unlikely]]
            return refuse("number", row.calling, " calls itself");
        const StartFault start = starts_.read(row.start, call.start);
        if (start != StartFault::none) [[unlikely]]
            return refuse("start", excerpt(row.start),
                          start == StartFault::no_time ? ": not a time as 2026-03-02T08:15:30Z"
                                                       : ": not in the years 1970 to 2105");
        if (row.duration < 0) [[unlikely]]
            return refuse("duration", row.duration, " is negative");
        if (row.duration > max_duration) [[unlikely]]
            return refuse("duration", row.duration, ": out of range");
        call.established = row.established == "true";
        if (!call.established && row.established != "false") [[unlikely]]
            return refuse("established", excerpt(row.established), ": not true or false");
        // The last check, as only calls that are accepted move the time on.
        if (call.start > now_) [[unlikely]] {
            if (now_ >= 0 && call.start > now_ + jump_seconds_)
                return refuse("start", row.start, ": too far after the calls before it (--jump)");
            now_ = call.start;
        }
        call.duration = static_cast<std::uint32_t>(row.duration);
        return true;
    }

    auto state() { return std::tie(now_); }

  private:
    static constexpr std::int64_t max_duration = INT32_MAX;

    std::int64_t jump_seconds_;
    std::int64_t now_ = -1;
    StartReader starts_;
};

using CallSource = CheckedRows<CallCheck>;

}  // namespace strid::apps::voip_stream
