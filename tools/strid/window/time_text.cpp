// SPDX-License-Identifier: Apache-2.0
#include "time_text.hpp"

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

}  // namespace

void append_time(std::string& out, EventTime time, const TimeFormat& format) {
    const TimePattern* const pattern = format.pattern_of_bounds();
    if (pattern != nullptr) return pattern->append(out, time, format.zone);
    append_time(out, time, format.form.load(std::memory_order_relaxed), format);
}

detail::CsvFault TimeReader::read(std::string_view text, EventTime& time) {
    text = detail::trimmed(text);
    if (format_->pattern) return fault_text(format_->pattern->read(text, format_->zone, time));
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
