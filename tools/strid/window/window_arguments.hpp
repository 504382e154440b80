// SPDX-License-Identifier: Apache-2.0
//
// The values of the command line of `strid window`; the options are added by window_command.cpp and
// the files *_options.cpp, a subject each. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <strid/program/arguments.hpp>

#include "window_graph.hpp"

namespace strid::tool {

struct WindowCommand {
    RunArguments arguments;
    WindowJob job;
    std::shared_ptr<TablePlan> plan = std::make_shared<TablePlan>();
    std::vector<std::string> followed;  // files
    std::string keys;
    std::string windows;
    std::string aggregates;
    Duration offset = Duration::zero();
    std::string late;
    std::string dead_letter;
    char delimiter = '\0';  // as it was given; '\0': it was not
    bool no_header = false;
    bool skip_malformed = false;
    bool drop_open = false;
    bool is_journal_described = false;
    bool joins_lines = false;
};

}  // namespace strid::tool
