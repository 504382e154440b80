// SPDX-License-Identifier: Apache-2.0
//
// Times as texts: numbers of a unit since 1970, dates of ISO 8601 and other forms that files have,
// or a pattern that was asked for. Bounds of windows are written in the form of the first row that
// is taken, in the order of the input, whatever form later rows have, unless another was asked for.
//
// The format is shared by the replicas of a run and constant but for the form, which the source
// settles before the row leaves it. A TimeReader belongs to one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include <strid/base/time.hpp>
#include <strid/base/time_zone.hpp>
#include <strid/connector/csv_value.hpp>

#include "plain_fields.hpp"
#include "time_pattern.hpp"

namespace strid::tool {

/// How a time is written.
struct TimeForm {
    enum class Kind : std::uint8_t {
        unknown,
        integer,  // of the unit
        decimal,  // the same with a point, or without one where it is whole
        date,
        pattern,  // of --time-format
        asked     // of --output-times
    };
    enum class Date : std::uint8_t {
        iso,      // 2024-03-31T01:30:00
        basic,    // 20240331T013000
        slashed,  // 2024/03/31 01:30:00
        us,       // 03/31/2024 01:30:00 AM
        log       // 31/Mar/2024:01:30:00 +0000, as web servers have it
    };
    enum class Offset : std::uint8_t {
        none,
        z,           // Z
        utc,         // UTC behind a space
        colon,       // +01:00
        basic,       // +0100
        space,       // +0100 behind a space
        space_colon  // +01:00 behind a space
    };

    Kind kind = Kind::unknown;
    Date date = Date::iso;
    char between = 'T';  // date and time of day; 0: a date alone
    Offset offset = Offset::none;
};
static_assert(std::atomic<TimeForm>::is_always_lock_free);

/// The properties of the times of a table before it is read, and the form of the bounds.
struct TimeFormat {
    std::int64_t unit_ns = 1'000'000;
    bool is_unit_given = false;
    char decimal_point = '.';                    // in times that are numbers, where they are read
    TimeZone zone;                               // of dates without an offset, and of those written
    std::shared_ptr<const TimePattern> pattern;  // what all times are read by; null: none
    std::shared_ptr<const TimePattern> output;   // what bounds are written by; null: as `form` says
    /// Why bounds cannot be written as integers of the unit; empty where they can.
    std::string misfit;
    /// Of the bounds: of the first row that was taken.
    mutable std::atomic<TimeForm> form{TimeForm{}};
    /// Of the windows that were written, for a hint when the run is over.
    mutable std::atomic<std::int64_t> latest_end{std::numeric_limits<std::int64_t>::min()};

    /// A pattern may have anything in it.
    [[nodiscard]] bool may_need_quotes() const noexcept {
        const TimeForm::Kind kind = form.load(std::memory_order_relaxed).kind;
        return kind == TimeForm::Kind::pattern || kind == TimeForm::Kind::asked;
    }
};

/// Null, or what is wrong with the text; the form of a time that was read.
[[nodiscard]] detail::CsvFault read_time(std::string_view text, const TimeFormat& format,
                                         EventTime& time, TimeForm& form);
void append_time(std::string& out, EventTime time, const TimeFormat& format);

/// Reads the times of one source, and settles the form with the first row that is taken.
class TimeReader {
  public:
    explicit TimeReader(const TimeFormat& format) noexcept : format_(&format) {}

    /// From the start of the input.
    void reset() noexcept {
        has_taken_ = false;
        has_numbers_ = false;
    }
    /// Eight digits that are a date are taken for a number only where other times are numbers.
    [[nodiscard]] detail::CsvFault read(std::string_view text, EventTime& time);
    /// The fast way through a whole number. False: not sure.
    [[nodiscard]] [[gnu::always_inline]] bool scan(const char* begin, const char* end,
                                                   EventTime& time) const noexcept {
        std::int64_t count = 0;
        std::int64_t ns = 0;
        if (!has_numbers_ || !read_whole_number(begin, end, count)) return false;
        if (__builtin_mul_overflow(count, format_->unit_ns, &ns)) return false;
        time = EventTime::of_ns(ns);
        return true;
    }
    /// The row whose time was read last is one. Throws GraphError where its form settles that of
    /// the bounds, and they cannot be written so.
    [[gnu::always_inline]] void take() {
        if (!has_taken_) [[unlikely]]
            take_first();
    }

  private:
    void take_first();

    const TimeFormat* format_;
    TimeForm form_;  // of the time that was read last
    bool has_taken_ = false;
    bool has_numbers_ = false;  // the first row that was taken has one
};

}  // namespace strid::tool
