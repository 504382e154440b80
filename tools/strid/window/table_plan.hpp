// SPDX-License-Identifier: Apache-2.0
//
// The input and the computation of `strid window`, known at run time only: the columns of the keys,
// the time and the values, and the aggregates asked for. A table may be narrow, wide or large: sets
// of limits for which rows, states and results are laid out, so that the small questions that most
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

#include <strid/connector/csv_value.hpp>

#include "time_text.hpp"

namespace strid::tool {

/// One key, and sums, counts, means and extremes of a few columns: a row is a cache line.
struct NarrowTable {
    using Rows = NarrowTable;  // how they are laid out
    static constexpr std::size_t keys_max = 1;
    static constexpr std::size_t values_max = 4;
    static constexpr std::size_t state_words = 12;
    static constexpr bool is_wide = false;
    static constexpr bool keeps_lines = false;
};

/// The same rows, and one sum with a count, or two extremes: half a cache line.
struct SmallTable : NarrowTable {
    static constexpr std::size_t state_words = 4;
};

/// A NarrowTable where late rows are written: the row also has its line.
struct NarrowTableOfLines : NarrowTable {
    using Rows = NarrowTableOfLines;
    static constexpr bool keeps_lines = true;
};

/// Any aggregates.
struct WideTable {
    using Rows = WideTable;
    static constexpr std::size_t keys_max = 3;
    static constexpr std::size_t values_max = 8;
    static constexpr std::size_t state_words = 36;
    static constexpr bool is_wide = true;
    static constexpr bool keeps_lines = true;
};

/// The same for whatever can be asked for.
struct LargeTable {
    using Rows = LargeTable;
    static constexpr std::size_t keys_max = 8;
    static constexpr std::size_t values_max = 32;
    static constexpr std::size_t aggregates_max = 64;
    static constexpr std::size_t state_words = 3 * aggregates_max;
    static constexpr bool is_wide = true;
    static constexpr bool keeps_lines = true;
};

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

/// The state of a window; several aggregates may read the same state.
enum class CellKind : std::uint8_t {
    rows,     ///< how many
    present,  ///< of the values that are not missing how many
    total,    ///< NumberTotal
    minimum,  ///< NumberExtreme
    maximum,
    moments,   ///< mean and variance
    digest,    ///< window::TDigest
    distinct,  ///< of texts
    distinct_approximately,
    first,  ///< ChosenText
    last,
    min_by,
    max_by,
    largest,  ///< LeadingNumbers
    smallest,
    frequent,  ///< FrequentTexts
    collected  ///< CollectedTexts
};

struct TableCell {
    CellKind kind;
    std::uint8_t value;    // of the row
    std::uint8_t by;       // another value of the row, where there are two; else the same
    std::uint16_t word;    // of the state, where it begins
    std::uint16_t sketch;  // of the state
    std::uint32_t length;  // of a list
};

/// The value that is read from a cell.
enum class AggregateKind : std::uint8_t {
    count_rows,
    count,
    sum,
    mean,
    rate,
    rate_of_rows,
    extreme,
    deviation,
    variance,
    quantile,
    distinct,
    chosen,
    list
};

struct TableAggregateItem {
    std::string text;  // as it was asked for: the name of its column
    AggregateKind kind;
    std::size_t cell = 0;
    double q = 0;  // of a quantile
};

struct AskedAggregate;

/// The input, and the computation.
struct TablePlan {
    std::vector<std::string> keys;
    std::string time;  // empty: there is no time
    std::vector<ValueColumn> values;
    std::vector<TableAggregateItem> items;
    std::vector<TableCell> cells;
    std::size_t words = 0;     // of a state
    std::size_t sketches = 0;  // of a state
    TimeFormat format;
    /// For JSON, whose members are not declared: whether a row was read, and a bit for each value
    /// that some row had. Relaxed: read once the run is over.
    mutable std::atomic<bool> has_json_rows{false};
    mutable std::atomic<std::uint32_t> json_values_seen{0};

    /// Whether SmallTable, NarrowTable, WideTable, LargeTable has room for it.
    template <class Table>
    [[nodiscard]] bool fits() const noexcept {
        return keys.size() <= Table::keys_max && values.size() <= Table::values_max &&
               words <= Table::state_words && (Table::is_wide || is_plain());
    }
    /// How many columns a row is read from: the keys, the time where there is one, the values.
    [[nodiscard]] std::size_t columns() const noexcept {
        return keys.size() + (time.empty() ? 0 : 1) + values.size();
    }
    /// Reads `count,sum(x),p99(x)` into `items`, `cells` and `values`, once `time` is known. Throws
    /// GraphError.
    void read_aggregates(std::string_view list);

  private:
    /// Whether states are a few words, of numbers.
    [[nodiscard]] bool is_plain() const noexcept { return sketches == 0; }
    void add_cell(const AskedAggregate& asked, TableAggregateItem& item);
    std::size_t value_index(std::string_view name, bool is_text);
    std::size_t cell_index(TableCell wanted);
};

}  // namespace strid::tool
