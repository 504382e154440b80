// SPDX-License-Identifier: Apache-2.0
//
// Records whose columns are known at run time only: what `strid window` computes with. A row has
// up to three texts for a key, a time, and up to eight values, numbers or (for distinct counts)
// texts; empty fields are missing values, which aggregates pass over as SQL does.
//
// The descriptions are shared by the replicas of a run and constant while it lasts.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include <strid/connector/csv_value.hpp>
#include <strid/window/hyper_log_log.hpp>
#include <strid/window/result.hpp>
#include <strid/window/t_digest.hpp>

namespace strid::tool {

inline constexpr std::size_t keys_max = 3;
inline constexpr std::size_t values_max = 8;
inline constexpr std::size_t aggregates_max = 12;

/// The texts of the key columns; those that are not there are empty.
using TableKey = std::tuple<std::string_view, std::string_view, std::string_view>;

/// A number, or the beginning of a text.
union TableValue {
    double number;
    const char* text;
};

struct TableRow {
    TableKey key;
    EventTime time;
    std::array<TableValue, values_max> values;
    std::array<std::uint32_t, values_max> lengths;  // of texts
    std::uint32_t present;                          // a bit for each value that is not missing

    [[nodiscard]] bool has(std::size_t value) const noexcept { return (present >> value & 1) != 0; }
    [[nodiscard]] std::string_view text(std::size_t value) const noexcept {
        return {values[value].text, lengths[value]};
    }
};

/// How times stand in the table.
struct TimeFormat {
    std::int64_t unit_ns = 1'000'000;
    /// The first time that was read is ISO 8601: results are written so too.
    mutable std::atomic<bool> iso{false};
};

/// An integer in the format's unit, or a date and time of ISO 8601 (UTC where it names no zone).
[[nodiscard]] detail::CsvFault read_time(std::string_view text, const TimeFormat& format,
                                         EventTime& time);
void append_time(std::string& out, EventTime time, const TimeFormat& format);

/// The parts of a list with commas between them, without spaces around.
[[nodiscard]] std::vector<std::string> split_list(std::string_view list);

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

    /// Reads `count,sum(x),p99(x)` into `items` and `values`. Throws GraphError.
    void read_aggregates(std::string_view list);

  private:
    void add_aggregate(std::string_view text);
    std::size_t value_index(std::string_view name, bool is_text);
};

/// Fills rows from the columns keys, time, values.
class TableLayout {
  public:
    static constexpr bool holds_text = true;

    explicit TableLayout(std::shared_ptr<const TablePlan> plan) : plan_(std::move(plan)) {}

    [[nodiscard]] std::size_t columns() const noexcept {
        return plan_->keys.size() + (plan_->time.empty() ? 0 : 1) + plan_->values.size();
    }
    template <class TextOf>
    detail::CsvFault read(TableRow& row, TextOf&& text_of, NonFinite non_finite,
                          std::size_t& faulty) const {
        std::size_t column = 0;
        const std::size_t keys = plan_->keys.size();
        if (keys > 0) std::get<0>(row.key) = text_of(column++);
        if (keys > 1) std::get<1>(row.key) = text_of(column++);
        if (keys > 2) std::get<2>(row.key) = text_of(column++);
        if (!plan_->time.empty()) {
            faulty = column;
            const auto fault = read_time(text_of(column++), plan_->format, row.time);
            if (fault != nullptr) return fault;
        }
        row.present = 0;
        for (std::size_t i = 0; i < plan_->values.size(); ++i) {
            faulty = column;
            const std::string_view text = text_of(column++);
            if (text.empty()) continue;
            if (plan_->values[i].is_text) {
                row.values[i].text = text.data();
                row.lengths[i] = static_cast<std::uint32_t>(text.size());
            } else {
                const auto fault = detail::read_csv_value(text, row.values[i].number, non_finite);
                if (fault != nullptr) return fault;
            }
            row.present |= std::uint32_t{1} << i;
        }
        return nullptr;
    }

  private:
    std::shared_ptr<const TablePlan> plan_;
};

/// All aggregates of the list at once; an Aggregate of window/aggregate.hpp.
class TableAggregate {
  public:
    struct Cell {
        double a = 0;
        double b = 0;
        std::uint64_t count = 0;
    };
    struct Sketch {
        window::TDigest digest;
        boost::unordered_flat_set<std::uint64_t> seen;  // hashes of the texts
        window::HyperLogLog<14> about;                  // of the texts, approximately
    };
    struct State {
        std::array<Cell, aggregates_max> cells;
        std::vector<Sketch> sketches;  // none where nothing asked for needs one
    };
    /// A missing value is not a number.
    using Values = std::array<double, aggregates_max>;

    explicit TableAggregate(std::shared_ptr<const TablePlan> plan) : plan_(std::move(plan)) {}

    [[nodiscard]] State identity() const {
        State state;
        state.sketches.resize(plan_->sketches);
        return state;
    }
    [[nodiscard]] State lift(const TableRow& row) const {
        State state = identity();
        add(state, row);
        return state;
    }
    void add(State& state, const TableRow& row) const;
    [[nodiscard]] State combine(const State& older, const State& newer) const;
    [[nodiscard]] Values lower(const State& state) const;

  private:
    std::shared_ptr<const TablePlan> plan_;
};

/// Appends the results of windows, or late rows, as rows of CSV.
class TableText {
  public:
    explicit TableText(std::shared_ptr<const TablePlan> plan) : plan_(std::move(plan)) {}

    [[nodiscard]] std::string result_header() const;
    [[nodiscard]] std::string late_header() const;
    void append(std::string& out, const TableRow& late) const;
    template <class Result>
    void append(std::string& out, const Result& result) const {
        append_key(out, result.key);
        append_bound(out, result.window.start);
        out += ',';
        append_bound(out, result.window.end);
        append_values(out, result.value);
    }

  private:
    void append_key(std::string& out, const TableKey& key) const;
    void append_bound(std::string& out, EventTime bound) const {
        append_time(out, bound, plan_->format);
    }
    void append_bound(std::string& out, std::uint64_t position) const {
        detail::append_csv_value(out, position, ',');
    }
    void append_values(std::string& out, const TableAggregate::Values& values) const;

    std::shared_ptr<const TablePlan> plan_;
};

}  // namespace strid::tool
