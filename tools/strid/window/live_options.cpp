// SPDX-License-Identifier: Apache-2.0
#include "live_options.hpp"

#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "window_arguments.hpp"

namespace strid::tool {

void add_live_options(CLI::App& command, WindowCommand& options) {
    WindowJob& job = options.job;
    const auto add_time = [&command](const char* name, Duration& time, const char* help) {
        add_text_option(
            command, name, "TIME", [&time](const std::string& text) { time = read_duration(text); },
            help);
    };
    add_time(
        "--idle", job.progress.idle,
        "Where no row has come for so long, and none waits, time goes on by the clock, so long "
        "behind it: windows close though nothing comes; of merged inputs for each alone");
    add_time("--future", job.progress.future,
             "Rows more than this ahead of the clock are set aside: they go to --late, and are "
             "counted");
    add_time("--every", job.rows.every,
             "Write windows that are still open as they stand, this long after they changed at the "
             "latest");
    command.add_flag("--fill", job.rows.fills,
                     "Write windows without a row, too, between the first and the last of each key "
                     "(at most 1,000,000 at once)");
    command.add_flag(
        "--corrections", job.rows.corrections,
        "A last column says what a row is: first, again (the window has changed), void "
        "(it is no more) or early (it is still open)");
}

namespace {

const char* first_asked_for(const WindowJob& job) {
    if (job.progress.waits_for_end) return "--disorder end";
    if (job.progress.idle != Duration::zero()) return "--idle";
    if (job.progress.future != Duration::zero()) return "--future";
    if (job.rows.every != Duration::zero()) return "--every";
    if (job.rows.fills) return "--fill";
    return job.rows.corrections ? "--corrections" : nullptr;
}

}  // namespace

void check_live_options(const WindowJob& job, const Windows& windows) {
    if (std::holds_alternative<window::CountWindows>(windows)) {
        if (const char* const name = first_asked_for(job)) {
            throw GraphError(fmt::format(
                "windows of a number of records take them as they come, and are written once, when "
                "they are full: {} is for windows of time and sessions",
                name));
        }
    }
    if (job.rows.fills && std::holds_alternative<window::SessionWindows>(windows)) {
        throw GraphError("--fill: there are no sessions without a row");
    }
    if (!job.progress.waits_for_end) return;
    if (job.progress.idle != Duration::zero()) {
        throw GraphError(
            "--disorder end waits for the end of the input, --idle does not: one of "
            "them");
    }
    if (job.window.lateness != Duration::zero()) {
        throw GraphError(
            "--disorder end: nothing is late before the end of the input, so that "
            "--lateness has no meaning");
    }
}

std::string live_notes(const WindowJob& job) {
    const std::uint64_t count = job.set_aside->load(std::memory_order_relaxed);
    if (count == 0) return "";
    return fmt::format(
        "strid: {} row{} from the future, more than --future ahead of the clock: "
        "set aside\n",
        count, count == 1 ? "" : "s");
}

}  // namespace strid::tool
