// SPDX-License-Identifier: Apache-2.0
#include "time_text.hpp"

#include <algorithm>
#include <chrono>

#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/civil_time.hpp>
#include <strid/base/error.hpp>

namespace strid::tool {

namespace {

/// The same as describe(), with the options that help.
detail::CsvFault fault_text(TimeFault fault) noexcept {
    switch (fault) {
        case TimeFault::no_time:
            return "not a time: neither a number of the --unit nor a date "
                   "(2024-03-31T01:30:00.5Z, 2024/03/31 1:30, 03/31/2024 01:30 AM, "
                   "31/Mar/2024:01:30:00 +0200); --time-format reads others";
        case TimeFault::day_or_month:
            return "day or month first? --time-format '%d/%m/%Y %H:%M:%S' or '%m/%d/%Y %H:%M:%S' "
                   "says it";
        case TimeFault::not_of_pattern:
            return "not a time as --time-format says";
        case TimeFault::number_out_of_range:
            return "out of range for the --unit (ns, us, ms, s, ...)";
        default:
            return describe(fault);
    }
}

/// Eight digits that are a day from 1900 to 2099.
bool looks_like_date(std::string_view text) {
    static const TimePattern day("%Y%m%d");
    EventTime time;
    return text.size() == 8 && text >= "1900" && text < "2100" &&
           day.read(text, {}, time) == TimeFault::none;
}

/// When a file was changed last; now where the input is none.
EventTime changed_at(const std::string& path) {
    struct stat status {};
    const int failed = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
    if (failed != 0 || !S_ISREG(status.st_mode)) {
        return EventTime{std::chrono::system_clock::now().time_since_epoch()};
    }
    return EventTime{std::chrono::seconds{status.st_mtim.tv_sec}};
}

}  // namespace

void append_time(std::string& out, EventTime time, const TimeFormat& format) {
    const TimePattern* const pattern = format.pattern_of_bounds();
    if (pattern != nullptr) return pattern->append(out, time, format.zone);
    append_time(out, time, format.form.load(std::memory_order_relaxed), format);
}

void TimeReader::begin_input(const std::string& path) {
    has_taken_ = false;
    has_numbers_ = false;
    if (!format_->pattern || format_->pattern->has_year()) return;
    before_ = EventTime::earliest();
    year_ = format_->year;
    if (year_ != 0) return;
    // A day more: the clocks of the writer may be of another zone.
    latest_ = changed_at(path) + std::chrono::hours{24};
    year_ = civil_of(latest_, format_->zone).year;
}

TimeFault TimeReader::read_by_pattern(std::string_view text, EventTime& time) {
    const TimePattern& pattern = *format_->pattern;
    const auto read_of = [&](int year, EventTime& found) {
        return pattern.read(text, format_->zone, found, year);
    };
    if (pattern.has_year()) return read_of(0, time);
    TimeFault fault = read_of(year_, time);
    if (format_->year == 0) {
        constexpr int years_max = 8;  // to the leap year before
        for (int back = 1; back <= years_max; ++back) {
            if (fault != TimeFault::no_day && !(fault == TimeFault::none && time > latest_)) break;
            fault = read_of(year_ - back, time);
        }
        return fault;
    }
    constexpr Duration half_year = std::chrono::hours{24 * 183};
    EventTime other;
    if (fault != TimeFault::none || before_ == EventTime::earliest()) return fault;
    if (time < before_ - half_year && read_of(year_ + 1, other) == TimeFault::none) {
        ++year_;  // from December to January
        time = other;
    } else if (time > before_ + half_year && read_of(year_ - 1, other) == TimeFault::none) {
        time = other;  // a row of December behind one of January
    }
    return fault;
}

detail::CsvFault TimeReader::choose_moment(EventTime& time) {
    const std::int64_t moment = strid::detail::floor_divide(time.ns(), strid::detail::second_ns);
    const std::chrono::seconds later{format_->zone.shown_again_after(moment)};
    is_shown_twice_ = later != Duration::zero();
    if (!is_shown_twice_) return nullptr;
    const EventTime second = time + later;
    switch (format_->ambiguous) {
        case Ambiguous::malformed:
            return "a local time that clocks show twice (--ambiguous order, first or last takes "
                   "it)";
        case Ambiguous::first:
            break;
        case Ambiguous::last:
            time = second;
            break;
        case Ambiguous::order: {
            // Rows may lie further behind than the hour is long: then half of it decides.
            const EventTime due = before_ - std::min<Duration>(format_->disorder, later / 2);
            if (time < due && due <= second + later) time = second;
            break;
        }
    }
    return nullptr;
}

detail::CsvFault TimeReader::read(std::string_view text, EventTime& time) {
    text = detail::trimmed(text);
    is_shown_twice_ = false;
    const auto fault =
        format_->pattern ? fault_text(read_by_pattern(text, time)) : read_by_form(text, time);
    if (fault != nullptr) return fault;
    const bool has_offset = format_->pattern ? format_->pattern->has_offset()
                                             : form_.kind != TimeForm::Kind::date ||
                                                   form_.offset != TimeForm::Offset::none;
    if (!has_offset && !format_->zone.is_utc()) {
        if (const auto refused = choose_moment(time)) return refused;
    }
    before_ = time;
    return nullptr;
}

detail::CsvFault TimeReader::read_by_form(std::string_view text, EventTime& time) {
    const TimeFault fault = read_time(text, *format_, time, form_);
    if (fault != TimeFault::none) {
        const bool is_cut = text.starts_with('[') && !text.ends_with(']');
        return is_cut ? "the time goes on in the next column (--time 4,5 reads two as one)"
                      : fault_text(fault);
    }
    const bool is_doubtful =
        !has_numbers_ && !format_->is_unit_given && form_.kind == TimeForm::Kind::integer;
    if (is_doubtful && looks_like_date(text)) {
        return "eight digits: a date (--time-format %Y%m%d) or a number (--unit ms)?";
    }
    return nullptr;
}

void TimeReader::take_first() {
    using Kind = TimeForm::Kind;
    has_taken_ = true;
    has_numbers_ = form_.kind == Kind::integer || form_.kind == Kind::decimal;
    if (format_->output) return;
    TimeForm none;
    if (!format_->form.compare_exchange_strong(none, form_, std::memory_order_relaxed)) return;
    if (form_.kind == Kind::integer && !format_->misfit.empty()) throw GraphError(format_->misfit);
}

}  // namespace strid::tool
