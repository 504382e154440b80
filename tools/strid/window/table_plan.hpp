// SPDX-License-Identifier: Apache-2.0
//
// The input and the computation of `strid window`, known at run time only: the columns of the keys,
// the time and the values, and the aggregates asked for. Rows and states are as large as these
// need.
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
    moments,   ///< NumberMoments
    digest,    ///< NumberDigest
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
    static constexpr std::size_t keys_max = 8;
    static constexpr std::size_t times_max = 4;
    static constexpr std::size_t values_max = 32;
    static constexpr std::size_t aggregates_max = 64;
    /// A state has so many words of its own (table_state.hpp).
    static constexpr std::size_t words_in_state = 4;

    std::vector<std::string> keys;
    /// The columns of the time, read with spaces between them; empty: there is no time.
    std::vector<std::string> times;
    std::vector<ValueColumn> values;
    std::vector<TableAggregateItem> items;
    std::vector<TableCell> cells;
    /// The options that decide what is computed, for snapshots, which are of no other computation.
    std::string computation;
    std::size_t words = 0;     // of a state; those of its own are all in use up to the last one
    std::size_t sketches = 0;  // of a state
    TimeFormat format;
    /// For JSON, whose members are not declared: whether a row was read, and a bit for each value
    /// that some row had. Relaxed: read once the run is over.
    mutable std::atomic<bool> has_json_rows{false};
    mutable std::atomic<std::uint32_t> json_values_seen{0};

    /// Whether states are larger than they are themselves.
    [[nodiscard]] bool has_blocks() const noexcept {
        return words > words_in_state || sketches != 0;
    }
    /// How many columns a row is read from: the keys, the times, the values.
    [[nodiscard]] std::size_t columns() const noexcept {
        return keys.size() + times.size() + values.size();
    }
    /// Reads `count,sum(x),p99(x)` into `items`, `cells` and `values`, once `times` are known.
    /// Throws GraphError.
    void read_aggregates(std::string_view list);

  private:
    void add_cell(const AskedAggregate& asked, TableAggregateItem& item);
    std::size_t value_index(std::string_view name, bool is_text);
    std::size_t cell_index(TableCell wanted);
};

}  // namespace strid::tool
