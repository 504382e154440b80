// SPDX-License-Identifier: Apache-2.0
//
// What `strid window` reads and computes, known at run time only: the columns of the keys, the time
// and the values, and the aggregates asked for. A table may be narrow, wide or large: sets of
// limits for which rows, states and results are laid out, so that the small questions that most
// people ask do not pay for the large ones.
//
// A plan is shared by the replicas of a run and constant while it lasts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <strid/base/time.hpp>
#include <strid/connector/csv_value.hpp>

namespace strid::tool {

/// One key, and sums, counts, means and extremes of a few columns: a row, a state and a result are
/// a cache line each.
struct NarrowTable {
    static constexpr std::size_t keys_max = 1;
    static constexpr std::size_t values_max = 4;
    static constexpr std::size_t aggregates_max = 4;
    static constexpr bool is_wide = false;
    static constexpr bool keeps_lines = false;
};

/// The same where late rows are written: the row also knows its line.
struct NarrowTableOfLines : NarrowTable {
    static constexpr bool keeps_lines = true;
};

/// Any aggregates.
struct WideTable {
    static constexpr std::size_t keys_max = 3;
    static constexpr std::size_t values_max = 8;
    static constexpr std::size_t aggregates_max = 12;
    static constexpr bool is_wide = true;
    static constexpr bool keeps_lines = true;
};

/// The same for whatever can be asked for.
struct LargeTable {
    static constexpr std::size_t keys_max = 8;
    static constexpr std::size_t values_max = 32;
    static constexpr std::size_t aggregates_max = 64;
    static constexpr bool is_wide = true;
    static constexpr bool keeps_lines = true;
};

/// How times stand in the table.
struct TimeFormat {
    std::int64_t unit_ns = 1'000'000;
    /// Why bounds cannot be written as integers of the unit; empty where they can. Whether they
    /// have to be is known with the first time.
    std::string misfit;
    /// The first time that was read is ISO 8601: results are written so too.
    mutable std::atomic<bool> iso{false};
};

/// An integer in the format's unit, or a date and time of ISO 8601 (UTC where it names no zone).
/// Throws GraphError for an integer where the bounds of windows can only be written in ISO 8601.
[[nodiscard]] detail::CsvFault read_time(std::string_view text, const TimeFormat& format,
                                         EventTime& time);
void append_time(std::string& out, EventTime time, const TimeFormat& format);

/// The parts of a list with commas between them, without spaces around. A name that begins with a
/// quote goes up to the closing one, commas and all. Throws GraphError where there is none.
[[nodiscard]] std::vector<std::string> split_list(std::string_view list);
/// The columns of such a list, their quotes taken off as those of CSV are: `"a,b"`, `"5"" wide"`.
[[nodiscard]] std::vector<std::string> read_columns(std::string_view list);

/// One value column, as a number or as a text.
struct ValueColumn {
    std::string name;
    bool is_text = false;
    friend bool operator==(const ValueColumn&, const ValueColumn&) = default;
};

enum class AggregateKind : std::uint8_t {
    count_rows,
    count,
    sum,
    mean,
    minimum,
    maximum,
    deviation,
    variance,
    quantile,
    distinct,
    distinct_approximately
};

struct TableAggregateItem {
    std::string text;  // as it was asked for: the name of its column
    AggregateKind kind;
    std::size_t value = 0;   // of the row
    std::size_t sketch = 0;  // of the state
    double q = 0;            // of a quantile
};

/// What is read, and what is computed of it.
struct TablePlan {
    std::vector<std::string> keys;
    std::string time;  // empty: there is no time
    std::vector<ValueColumn> values;
    std::vector<TableAggregateItem> items;
    std::size_t sketches = 0;
    TimeFormat format;
    /// Of JSON, whose members nobody declares: a row was read, and a bit for each value that some
    /// row had. Relaxed: read once the run is over.
    mutable std::atomic<bool> has_json_rows{false};
    mutable std::atomic<std::uint32_t> json_values_seen{0};

    /// Whether NarrowTable, WideTable, LargeTable has room for it.
    template <class Table>
    [[nodiscard]] bool fits() const noexcept {
        return keys.size() <= Table::keys_max && values.size() <= Table::values_max &&
               items.size() <= Table::aggregates_max && (Table::is_wide || is_plain());
    }
    /// How many columns a row is read from: the keys, the time where there is one, the values.
    [[nodiscard]] std::size_t columns() const noexcept {
        return keys.size() + (time.empty() ? 0 : 1) + values.size();
    }
    /// Reads `count,sum(x),p99(x)` into `items` and `values`. Throws GraphError.
    void read_aggregates(std::string_view list);

  private:
    /// Whether the aggregates are sums, counts, means and extremes.
    [[nodiscard]] bool is_plain() const noexcept;
    void add_aggregate(std::string_view text);
    std::size_t value_index(std::string_view name, bool is_text);
};

}  // namespace strid::tool
