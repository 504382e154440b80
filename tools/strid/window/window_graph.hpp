// SPDX-License-Identifier: Apache-2.0
//
// The graph of `strid window`: a table read row by row, its time, its keys, the windows, and a
// writer for results and one for late rows. One function for each kind of window, in files of their
// own because each is a template instance that takes a while to compile.
#pragma once

#include <memory>
#include <string>

#include <strid/connector/csv_source.hpp>
#include <strid/graph/graph.hpp>

#include "table.hpp"

namespace strid::tool {

struct WindowJob {
    std::shared_ptr<const TablePlan> plan;
    std::string input = "-";
    std::string output = "-";
    std::string late;  // empty: late rows are only counted
    CsvOptions csv;
    Duration disorder = Duration::zero();
    WindowOptions window;
};

void build_time_windows(Graph& graph, const WindowJob& job, window::TimeWindows windows);
void build_sessions(Graph& graph, const WindowJob& job, window::SessionWindows windows);
void build_count_windows(Graph& graph, const WindowJob& job, window::CountWindows windows);

}  // namespace strid::tool
