// SPDX-License-Identifier: Apache-2.0
//
// A source of events: lines of the benchmark's 15 numbers, checked (README.md, "Input"). What is
// wrong with a line follows the policy for malformed ones. Threads as in FileSource.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <strid/connector/csv_file.hpp>

#include "records.hpp"

namespace strid::apps::linear_road {

/// A line as it stands in the file. The two texts say where it begins and ends.
struct EventRow {
    std::string_view type;
    std::int32_t time;
    std::int32_t car;
    std::int32_t speed;
    std::int32_t expressway;
    std::int32_t lane;
    std::int32_t direction;
    std::int32_t segment;
    std::int32_t position;
    std::int32_t query;
    std::int32_t first_segment;
    std::int32_t last_segment;
    std::int32_t day_of_week;
    std::int32_t time_of_day;
    std::string_view day;
};

/// The event of a row; `fault` says why there is none. Expressways are below `expressways`.
[[nodiscard]] std::optional<Event> event_of(const EventRow& row, std::int32_t expressways,
                                            std::string& fault);

class EventSource : private CsvFile<EventRow> {
    using Rows = CsvFile<EventRow>;

  public:
    using record_type = Event;

    EventSource(std::string path, CsvOptions options, std::int32_t expressways)
        : Rows(std::move(path), std::move(options)), expressways_(expressways) {}

    using Rows::blocks;
    using Rows::bytes_read;
    using Rows::drains;
    using Rows::files;
    using Rows::fraction_done;
    using Rows::open;
    using Rows::replicas_used;
    using Rows::stop;
    using Rows::wake_at_ns;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        Checking<Emit> checking{*this, emit};
        return Rows::poll(checking, budget);
    }

  private:
    /// What the rows are emitted to: passes their events on.
    template <class Emit>
    struct Checking {
        EventSource& source;
        Emit& emit;

        bool operator()(EventRow&& row) {
            const auto event = source.checked(row);
            return !event || emit(Event{*event});
        }
        void keep_alive(const memory::TextReference& /*chunk*/) noexcept {}
        void born_at(std::int64_t ns) { emit.born_at(ns); }
        void count_malformed(std::uint64_t count) { emit.count_malformed(count); }
    };

    [[nodiscard]] std::optional<Event> checked(const EventRow& row) {
        std::string fault;
        auto event = event_of(row, expressways_, fault);
        if (event && event->time < latest_) [[unlikely]] {
            fault = time_goes_back(event->time);
            event.reset();
        }
        if (event) [[likely]] {
            latest_ = event->time;
            return event;
        }
        if (line_number_ == 1) fault += header_hint(row.type);
        const char* const end = row.day.data() + row.day.size();
        refuse(line_number_, fault,
               {row.type.data(), static_cast<std::size_t>(end - row.type.data())});
        return event;
    }
    [[nodiscard]] std::string time_goes_back(std::int32_t time) const;

    std::int32_t expressways_;
    std::int32_t latest_ = 0;
};

}  // namespace strid::apps::linear_road
