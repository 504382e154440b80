// SPDX-License-Identifier: Apache-2.0
//
// A source of calls: rows of calling,called,start,duration,established. A row that is no call is
// malformed. Threads as in FileSource; one replica, as the order of the calls counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <strid/connector/csv_file.hpp>

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

class CallSource : private CsvFile<CallRow> {
    using Rows = CsvFile<CallRow>;

  public:
    using record_type = Call;

    /// A start more than `jump_seconds` after the latest before it is refused.
    CallSource(std::string path, CsvOptions options, std::int64_t jump_seconds)
        : Rows(std::move(path), std::move(options)), jump_seconds_(jump_seconds) {}

    using Rows::blocks;
    using Rows::bytes_read;
    using Rows::drains;
    using Rows::files;
    using Rows::fraction_done;
    using Rows::keep_all_text;
    using Rows::open;
    using Rows::stop;
    using Rows::wake_at_ns;
    [[nodiscard]] static std::size_t replicas_used(std::size_t /*replicas*/) noexcept { return 1; }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        Reading<Emit> reading{*this, emit};
        return Rows::poll(reading, budget);
    }

  private:
    /// What the rows are emitted to: passes them on as calls.
    template <class Emit>
    struct Reading {
        CallSource& source;
        Emit& emit;

        bool operator()(CallRow&& row) {
            Call call;
            if (!source.read(row, call)) return true;
            return emit(std::move(call));
        }
        // Calls point to no text.
        void keep_alive(const memory::TextReference& /*chunk*/) noexcept {}
        void born_at(std::int64_t ns) { emit.born_at(ns); }
        void count_malformed(std::uint64_t count) { emit.count_malformed(count); }
    };

    bool read(const CallRow& row, Call& call) {
        if (!from_csv(row.calling, call.calling)) [[unlikely]]
            return refuse_call(row, "calling number", row.calling, ": not 1 to 15 digits");
        if (!from_csv(row.called, call.called)) [[unlikely]]
            return refuse_call(row, "called number", row.called, ": not 1 to 15 digits");
        if (call.calling == call.called) [[unlikely]]
            return refuse_call(row, "number", row.calling, " calls itself");
        const StartFault fault = starts_.read(row.start, call.start);
        if (fault != StartFault::none) [[unlikely]]
            return refuse_call(row, "start", row.start,
                               fault == StartFault::no_time ? ": not a time as 2026-03-02T08:15:30Z"
                                                            : ": not in the years 1970 to 2105");
        if (row.duration < 0) [[unlikely]]
            return refuse_call(row, "duration", std::to_string(row.duration), " is negative");
        if (row.duration > max_duration) [[unlikely]]
            return refuse_call(row, "duration", std::to_string(row.duration), ": out of range");
        call.established = row.established == "true";
        if (!call.established && row.established != "false") [[unlikely]]
            return refuse_call(row, "established", row.established, ": not true or false");
        // The last check, as only calls that are accepted move the time on.
        if (call.start > now_) [[unlikely]] {
            if (now_ >= 0 && call.start > now_ + jump_seconds_)
                return refuse_call(row, "start", row.start,
                                   ": too far after the calls before it (--jump)");
            now_ = call.start;
        }
        call.duration = static_cast<std::uint32_t>(row.duration);
        return true;
    }

    bool refuse_call(const CallRow& row, std::string_view field, std::string_view text,
                     std::string_view fault) {
        const char* const end = row.established.data() + row.established.size();
        const std::string hint = line_number_ == 1 ? header_hint(text) : std::string{};
        refuse(line_number_, fmt::format("{} '{}'{}{}", field, excerpt(text), fault, hint),
               {row.calling.data(), static_cast<std::size_t>(end - row.calling.data())});
        return false;
    }

    static constexpr std::int64_t max_duration = INT32_MAX;

    std::int64_t jump_seconds_;
    std::int64_t now_ = -1;
    StartReader starts_;
};

}  // namespace strid::apps::voip_stream
