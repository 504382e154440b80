// SPDX-License-Identifier: Apache-2.0
//
// Event time, windows and deduplication over chunks:
//
//     event_time("at", 5s, schema)
//     windowed({.keys = {"symbol"},
//               .windows = window::TimeWindows::tumbling(1min),
//               .aggregates = parse_aggregates("count, sum(volume) as volume, max(price)"),
//               .time = "at"},
//              schema)
//
// A plan has them as steps (plan.hpp). The meaning is that of windows in a compiled graph
// (window/spec.hpp, docs/time-and-windows.md): which rows belong to a window, when it is complete,
// and which rows are late is decided row by row, whatever chunks the rows came in.
//
// **Results** are rows with the keys, `window_start`, `window_end` and the aggregates. Windows of
// time come in the order of their ends, and those of an end in the order in which their keys came.
// Within the lateness a window that was emitted is emitted again with its new values, once for the
// rows of a chunk.
//
// **NULL** is a key of its own. Aggregates pass NULLs over; of no value at all `count` is 0 and
// every other one NULL. `min`, `max` and quantiles pass NaN over where there is another value. Sums
// are exact, except those of float64; one beyond its type is a fault (evaluator.hpp: OnFault).
//
// Threads: as the operators of tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <strid/base/time.hpp>
#include <strid/table/evaluator.hpp>
#include <strid/table/schema.hpp>
#include <strid/table/table_operator.hpp>
#include <strid/window/spec.hpp>

namespace strid::table {

/// The functions that make one value of the rows of a window.
enum class AggregateFunction : std::uint8_t {
    count,  ///< Rows, or values of a column: int64.
    sum,    ///< Of numbers and intervals, in their type.
    min,    ///< The smallest value of any type.
    max,    ///< The largest.
    avg,    ///< Of numbers a float64, of intervals an interval.
    first,  ///< The value of the earliest row that has one; of equal times the older row's.
    last,   ///< The value of the latest row that has one; of equal times the newer row's.
    count_distinct,  ///< How many different values there are: int64.
    quantile         ///< Of numbers: between the two nearest, in proportion. A float64.
};

/// A column of the results of windows.
struct Aggregate {
    std::string name;            ///< In the schema that comes out.
    AggregateFunction function;  ///< The function.
    std::string column = {};     ///< Of the rows that arrive; empty: `count` counts rows.
    double fraction = 0.5;       ///< Of a quantile, from 0 to 1.

    /// As parse_aggregates() reads it.
    [[nodiscard]] std::string text() const;
};
/// Aggregates from text, separated by commas: `count, sum(volume) as total, quantile(price, 0.9),
/// count(distinct symbol)`. `count(*)` is `count`, `mean` is `avg`, `median` is `quantile(x, 0.5)`.
/// A column may be in double quotes. One without `as` is named as it is written. Throws
/// ExpressionError, with the place in the text by its column from 1.
[[nodiscard]] std::vector<Aggregate> parse_aggregates(std::string_view text);

/// Of time, also of the calendar; sessions; or of a number of rows of a key, side by side.
using Windows = std::variant<window::TimeWindows, window::SessionWindows, window::CountWindows>;

/// Which rows are put together, and what is computed of them.
struct WindowSpec {
    std::vector<std::string> keys = {};      ///< Columns; none: all rows have one key.
    Windows windows;                         ///< Which window a row belongs to.
    std::vector<Aggregate> aggregates = {};  ///< At least one.
    /// A window of time takes rows for this long after the watermark has passed its end.
    Duration lateness = Duration::zero();
    /// The column of times. A plan has its own; windows of a number of rows need none.
    std::string time = {};
};

/// Rows by windows. Late rows leave by ChunkOutput::late(). A row without a time, and a sum beyond
/// its type, are faults; with OnFault::null the row is left out, and the sum is NULL. Throws
/// GraphError for columns that are not there, names that are there twice, a function that does not
/// take the type of its column, windows of rows that overlap, and a negative lateness.
[[nodiscard]] std::unique_ptr<TableOperator> windowed(const WindowSpec& spec, const Schema& schema,
                                                      OnFault on_fault = OnFault::stop);

/// Gives the rows their time: the watermark is the latest value of the column so far less
/// `disorder`, for each row that of the rows before it. With Duration::max() it comes with the end.
/// A row without a time is a fault; with OnFault::null it is left out. Throws GraphError for a
/// column that is no time, and for a negative disorder.
[[nodiscard]] std::unique_ptr<TableOperator> event_time(const std::string& column,
                                                        Duration disorder, const Schema& schema,
                                                        OnFault on_fault = OnFault::stop);

/// Rows unless one with the same values in these columns has passed whose time is less than
/// `within` away, earlier or later. Rows behind the watermark are late. Throws GraphError for
/// columns that are not there, and where `within` is not positive.
[[nodiscard]] std::unique_ptr<TableOperator> deduplicate(const std::vector<std::string>& columns,
                                                         const std::string& time, Duration within,
                                                         const Schema& schema,
                                                         OnFault on_fault = OnFault::stop);

}  // namespace strid::table
