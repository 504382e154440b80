// SPDX-License-Identifier: Apache-2.0
#include "time_options.hpp"

#include <string>

#include <CLI/CLI.hpp>

#include "window_arguments.hpp"

namespace strid::tool {

void add_time_options(CLI::App& command, WindowCommand& options) {
    WindowJob& job = options.job;
    command.add_option("--time", options.plan->time, "When a row happened: integers or ISO 8601")
        ->type_name("COL");
    add_choice<std::int64_t>(command, "--unit", options.plan->format.unit_ns,
                             {units.begin(), units.end()},
                             "What integers in --time count (default ms, since 1970)");
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
