// SPDX-License-Identifier: Apache-2.0
//
// The times of a table: as base/time_text.hpp reads them, or by a pattern that was asked for.
// Bounds of windows are written in the form of the first row that is taken, in the order of the
// input, whatever form later rows have, unless another was asked for.
//
// The format is shared by the replicas of a run and constant but for the form, which the source
// settles before the row leaves it. A TimeReader belongs to one thread.
//
// A local time that clocks show twice, because they are set back, is the first or the second moment
// as --ambiguous says: by the order of the rows it is the second where the first lies before the
// row that was read last, by more than rows may. A pattern without a year has that of --year, or
// the latest by which a time does not lie after the file was changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include <strid/base/time.hpp>
#include <strid/base/time_pattern.hpp>
#include <strid/base/time_text.hpp>
#include <strid/connector/csv_value.hpp>

#include "plain_fields.hpp"

namespace strid::tool {

static_assert(std::atomic<TimeForm>::is_always_lock_free);

/// Which moment a local time is that clocks show twice.
enum class Ambiguous : std::uint8_t { order, first, last, malformed };

/// The properties of the times of a table before it is read, and the form of the bounds.
struct TimeFormat : TimeNotation {
    bool is_unit_given = false;
    std::shared_ptr<const TimePattern> pattern;  // what all times are read by; null: none
    std::shared_ptr<const TimePattern> output;   // what bounds are written by; null: as `form` says
    Ambiguous ambiguous = Ambiguous::order;
    Duration disorder = Duration::zero();  // so far rows may lie behind the one before them
    int year = 0;                          // of times without one; 0: that of the file
    /// Why bounds cannot be written as integers of the unit; empty where they can.
    std::string misfit;
    /// Of the bounds: of the first row that was taken.
    mutable std::atomic<TimeForm> form{TimeForm{}};
    /// How many rows have a local time that clocks show twice.
    mutable std::atomic<std::uint64_t> shown_twice{0};
    /// Of the windows that were written, for a hint when the run is over.
    mutable std::atomic<std::int64_t> latest_end{std::numeric_limits<std::int64_t>::min()};

    /// The pattern of the bounds; null: they are written in the form.
    [[nodiscard]] const TimePattern* pattern_of_bounds() const noexcept {
        if (output) return output.get();
        const TimeForm::Kind kind = form.load(std::memory_order_relaxed).kind;
        return kind == TimeForm::Kind::unknown ? pattern.get() : nullptr;
    }
    /// A pattern may have anything in it.
    [[nodiscard]] bool may_need_quotes() const noexcept { return pattern_of_bounds() != nullptr; }
};

/// Writes a bound.
void append_time(std::string& out, EventTime time, const TimeFormat& format);

/// Reads the times of one source, and settles the form with the first row that is taken.
class TimeReader {
  public:
    /// The part of the rows so far that decides about the next.
    struct Place {
        EventTime before = EventTime::earliest();  // of the row that was read last
        int year = 0;                              // of times without one
    };

    explicit TimeReader(const TimeFormat& format) noexcept : format_(&format) {}

    /// From the start of the input.
    void begin_input(const std::string& path);
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
    [[nodiscard]] Place place() const noexcept { return {before_, year_}; }
    /// Whether the row before decides how a time is read: which year it has, or which of two
    /// moments it is. Times of a zone also count those.
    [[nodiscard]] bool depend_on_order() const noexcept {
        const bool has_years = !format_->pattern || format_->pattern->has_year();
        return !format_->zone.is_utc() || (format_->year != 0 && !has_years);
    }
    /// The rows up to there are passed over.
    void go_on(const Place& place) noexcept {
        before_ = place.before;
        year_ = place.year;
    }
    /// Whether a row was taken: the form of the times is settled.
    [[nodiscard]] bool has_taken() const noexcept { return has_taken_; }
    /// The row whose time was read last is one. Throws GraphError where its form settles that of
    /// the bounds, and they cannot be written so.
    [[gnu::always_inline]] void take() {
        if (!has_taken_) [[unlikely]]
            take_first();
        if (is_shown_twice_) [[unlikely]]
            format_->shown_twice.fetch_add(1, std::memory_order_relaxed);
    }

  private:
    void take_first();
    [[nodiscard]] TimeFault read_by_pattern(std::string_view text, EventTime& time);
    [[nodiscard]] detail::CsvFault read_by_form(std::string_view text, EventTime& time);
    /// Of a local time, whose first moment it is.
    [[nodiscard]] detail::CsvFault choose_moment(EventTime& time);

    const TimeFormat* format_;
    TimeForm form_;  // of the time that was read last; of a pattern it is unknown
    bool has_taken_ = false;
    bool has_numbers_ = false;                  // the first row that was taken has one
    bool is_shown_twice_ = false;               // the local time that was read last
    EventTime before_ = EventTime::earliest();  // of the row that was read last
    int year_ = 0;                              // of times without one
    EventTime latest_ = EventTime::latest();    // that such a time may be
};

}  // namespace strid::tool
