// SPDX-License-Identifier: Apache-2.0
//
// The graph of `strid window`: a table read row by row, its time, its keys, the windows, and a
// writer for results and one for late rows. Each kind of windows has a file of its own, because
// each takes a while to compile.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/csv_options.hpp>
#include <strid/stream/graph.hpp>

#include "late_file.hpp"
#include "table_plan.hpp"
#include "table_time.hpp"

namespace strid::tool {

enum class TableFormat : std::uint8_t {
    unknown,  ///< the first byte that is no white space says it: '{' begins JSON
    csv,
    json  ///< an object a line
};

/// The format by the ending of a file's name, before .gz or .zst.
[[nodiscard]] TableFormat format_by_name(std::string_view path) noexcept;
/// Whether it says that fields stand between tabs.
[[nodiscard]] bool is_named_tsv(std::string_view path) noexcept;

/// Which rows are written of a window, besides the one when it is complete.
struct WindowRows {
    bool corrections = false;           // a column says what each row is
    bool fills = false;                 // also windows without a row of the input
    Duration every = Duration::zero();  // as they stand, so often; 0: not before they are complete
    friend bool operator==(const WindowRows&, const WindowRows&) = default;
};

struct WindowJob {
    std::shared_ptr<const TablePlan> plan;
    std::vector<std::string> inputs{"-"};
    bool merge_inputs = false;  ///< by time; otherwise one is read behind the other
    std::string output = "-";
    std::shared_ptr<LateFile> late;    // null: late rows are only counted
    Writing writing = Writing::whole;  // of all its files
    RowFormat output_format = RowFormat::csv;
    TableFormat format = TableFormat::unknown;
    CsvOptions csv;
    std::vector<std::string> thousands;  // each separates groups of digits
    TimeProgress progress;
    WindowOptions window;
    WindowRows rows;
    /// Rows from the future, counted where they are set aside.
    std::shared_ptr<std::atomic<std::uint64_t>> set_aside =
        std::make_shared<std::atomic<std::uint64_t>>(0);

    /// Windows are written in a way, or rows are set aside, that only a live graph does.
    [[nodiscard]] bool is_live() const noexcept {
        return rows != WindowRows{} || progress.future != Duration::zero();
    }
};

/// Adds the operators of the job to the graph. Windows of a number of records are not live.
void build_windows(Graph& graph, const WindowJob& job, const window::TimeWindows& windows);
void build_windows(Graph& graph, const WindowJob& job, const window::SessionWindows& windows);
void build_windows(Graph& graph, const WindowJob& job, const window::CountWindows& windows);

}  // namespace strid::tool
