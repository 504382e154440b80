// SPDX-License-Identifier: Apache-2.0
#include "time_options.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/base/time_zone.hpp>

#include "window_arguments.hpp"

namespace strid::tool {

namespace {

/// Makes errors of the library errors of an option.
template <class Make>
auto made(Make&& make) {
    try {
        return make();
    } catch (const Error& error) {
        throw GraphError(error.what());
    }
}

/// `30m`, `-1h`.
Duration read_offset(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    const Duration offset = read_duration_or_zero(text);
    return is_negative ? -offset : offset;
}

void read_output_times(const std::string& text, TimeFormat& format) {
    TimeForm form;
    if (text == "iso") {
        form.kind = TimeForm::Kind::date;
        form.offset = TimeForm::Offset::z;
    } else if (text == "number") {
        form.kind = TimeForm::Kind::decimal;
    } else if (text.find('%') != std::string::npos) {
        format.output = made([&text] { return std::make_shared<const TimePattern>(text); });
    } else if (text != "read") {
        throw GraphError(
            fmt::format("'{}' is none of read, iso, number, nor a pattern as "
                        "'%Y-%m-%d %H:%M'",
                        text));
    }
    format.form.store(form, std::memory_order_relaxed);
}

void add_format_options(CLI::App& command, WindowCommand& options) {
    TimeFormat& format = options.plan->format;
    std::vector<std::string> words;
    for (const auto& unit : units) words.emplace_back(unit.first);
    add_choice(
        command, "--unit", words,
        [&format](std::size_t unit) {
            format.unit_ns = units[unit].second;
            format.is_unit_given = true;
        },
        "What numbers in --time count since 1970 (default ms)");
    add_text_option(
        command, "--time-format", "FORMAT",
        [&format](const std::string& text) {
            format.pattern = made([&text] {
                return std::make_shared<const TimePattern>(text, PatternYear::of_reader);
            });
        },
        "How --time is written, as for strptime: '%d.%m.%Y %H:%M:%S.%f'");
    add_number_option(
        command, "--year", 1678, 2261,
        [&format](std::uint64_t year) { format.year = static_cast<int>(year); },
        "Of the first row, where --time-format has no year ('%b %d %H:%M:%S' of "
        "syslog; default: as late as the file's last change allows)");
    add_choice<Ambiguous>(
        command, "--ambiguous", format.ambiguous,
        {{"order", Ambiguous::order},
         {"first", Ambiguous::first},
         {"last", Ambiguous::last},
         {"malformed", Ambiguous::malformed}},
        "Local times that clocks show twice, because they are set back: the second time where rows "
        "are in order and the first would go back (default), always the first or the last, or "
        "malformed");
    add_text_option(
        command, "--zone", "ZONE",
        [&format](const std::string& text) {
            format.zone = made([&text] { return TimeZone::named(text); });
        },
        "Europe/Berlin, +02:00: of times without an offset, of days and longer windows, and of the "
        "bounds\n(default UTC)");
    add_text_option(
        command, "--output-times", "read|iso|number|FORMAT",
        [&format](const std::string& text) { read_output_times(text, format); },
        "How bounds are written (default: in the form of the first row)");
    add_text_option(
        command, "--offset", "TIME",
        [&options](const std::string& text) { options.offset = read_offset(text); },
        "Where windows begin: so long behind the full hour, midnight, ...; may be negative");
}

}  // namespace

std::string hint_about_times(const TimeFormat& format) {
    constexpr std::int64_t ms = 1'000'000;
    constexpr std::int64_t day_ns = 86'400'000 * ms;
    // As seconds: 1973 and later.
    const std::int64_t latest = format.latest_end.load(std::memory_order_relaxed);
    const TimeForm::Kind kind = format.form.load(std::memory_order_relaxed).kind;
    const bool is_number = kind == TimeForm::Kind::integer || kind == TimeForm::Kind::decimal;
    const bool is_suspect =
        !format.is_unit_given && is_number && latest >= 100'000'000 * ms && latest <= 365 * day_ns;
    if (const std::uint64_t rows = format.shown_twice.load(std::memory_order_relaxed)) {
        return fmt::format(
            "strid: {} row{} at a local time that clocks showed twice: --ambiguous {}; "
            "--output-times iso tells the hours apart\n",
            rows, rows == 1 ? "" : "s",
            format.ambiguous == Ambiguous::order   ? "order takes them by their order"
            : format.ambiguous == Ambiguous::first ? "first"
                                                   : "last");
    }
    if (!is_suspect) return {};
    return "strid: all times lie before 1971: numbers in --time count milliseconds unless --unit "
           "says otherwise (--unit s?)\n";
}

void add_time_options(CLI::App& command, WindowCommand& options) {
    WindowJob& job = options.job;
    add_text_option(
        command, "--time", "COL[,COL]",
        [&options](const std::string& text) {
            options.plan->times = read_columns(text);
            if (options.plan->times.size() > TablePlan::times_max) {
                throw GraphError(fmt::format("--time: more than {} columns", TablePlan::times_max));
            }
        },
        "When a row happened: numbers, ISO 8601 and other forms (below); several columns are read "
        "as one text with spaces between them");
    add_format_options(command, options);
    add_text_option(
        command, "--disorder", "TIME",
        [&job](const std::string& text) {
            job.progress.waits_for_end = text == "end";
            if (text != "end") job.progress.disorder = read_duration_or_zero(text);
        },
        "How far rows may lie behind the latest before them (default 0); end: as far as they like, "
        "every window stays open until the end of the input");
    add_text_option(
        command, "--lateness", "TIME",
        [&job](const std::string& text) { job.window.lateness = read_duration_or_zero(text); },
        "For how long a complete window still takes rows (default 0)");
    command
        .add_option("--late", options.late, "Where late rows go; otherwise they are only counted")
        ->type_name("FILE");
}

}  // namespace strid::tool
