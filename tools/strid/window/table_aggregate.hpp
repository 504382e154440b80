// SPDX-License-Identifier: Apache-2.0
//
// All aggregates of the list at once; an Aggregate of window/aggregate.hpp. The state has a cell
// for each; that of a narrow table is one cache line of plain bytes.
//
// Threads: as any aggregate, each replica has its own; the plan is shared and constant.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include <strid/base/hash.hpp>
#include <strid/memory/recycling.hpp>
#include <strid/window/hyper_log_log.hpp>
#include <strid/window/t_digest.hpp>

#include "table_row.hpp"

namespace strid::tool {

template <class Table>
class TableAggregate {
  public:
    using Row = TableRow<Table>;

    struct NarrowCell {
        double a = 0;  // the sum, the extreme
        std::uint64_t count = 0;
    };
    struct WideCell {
        double a = 0;  // the sum, the extreme, the mean
        double b = 0;  // the sum of the squared distances from the mean
        std::uint64_t count = 0;
    };
    using Cell = std::conditional_t<Table::is_wide, WideCell, NarrowCell>;
    using Hashes =
        boost::unordered_flat_set<std::uint64_t, boost::hash<std::uint64_t>, std::equal_to<>,
                                  memory::RecyclingAllocator<std::uint64_t>>;
    struct Sketch {
        window::TDigest digest;
        Hashes seen;                    // of the texts
        window::HyperLogLog<14> about;  // of the texts, approximately
    };
    struct NarrowState {
        std::array<Cell, Table::aggregates_max> cells;
    };
    struct WideState {
        std::array<Cell, Table::aggregates_max> cells;
        // None where nothing asked for needs one.
        std::vector<Sketch, memory::RecyclingAllocator<Sketch>> sketches;
    };
    using State = std::conditional_t<Table::is_wide, WideState, NarrowState>;
    /// A missing value is not a number.
    using Values = std::array<double, Table::aggregates_max>;

    explicit TableAggregate(std::shared_ptr<const TablePlan> plan) : plan_(std::move(plan)) {}

    [[nodiscard]] State identity() const {
        State state{};
        if constexpr (Table::is_wide) state.sketches.resize(plan_->sketches);
        return state;
    }
    [[nodiscard]] State lift(const Row& row) const {
        State state = identity();
        add(state, row);
        return state;
    }

    void add(State& state, const Row& row) const {
        const auto& items = plan_->items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const TableAggregateItem& item = items[i];
            Cell& cell = state.cells[i];
            if (item.kind == AggregateKind::count_rows) {
                ++cell.count;
                continue;
            }
            if (!row.has(item.value)) continue;
            ++cell.count;
            switch (item.kind) {
                case AggregateKind::sum:
                case AggregateKind::mean:
                    cell.a += row.values[item.value].number;
                    break;
                case AggregateKind::minimum:
                case AggregateKind::maximum:
                    take_extreme(cell, item.kind, row.values[item.value].number, cell.count == 1);
                    break;
                default:
                    if constexpr (Table::is_wide) add_wide(state, cell, item, row);
                    break;
            }
        }
    }

    [[nodiscard]] State combine(const State& older, const State& newer) const {
        State sum = older;
        const auto& items = plan_->items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const TableAggregateItem& item = items[i];
            Cell& cell = sum.cells[i];
            const Cell& other = newer.cells[i];
            if (other.count == 0) continue;
            const std::uint64_t before = cell.count;
            cell.count += other.count;
            switch (item.kind) {
                case AggregateKind::sum:
                case AggregateKind::mean:
                    cell.a += other.a;
                    break;
                case AggregateKind::minimum:
                case AggregateKind::maximum:
                    take_extreme(cell, item.kind, other.a, before == 0);
                    break;
                default:
                    if constexpr (Table::is_wide) combine_wide(sum, newer, i, before);
                    break;
            }
        }
        return sum;
    }

    [[nodiscard]] Values lower(const State& state) const {
        Values values{};
        const auto& items = plan_->items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const Cell& cell = state.cells[i];
            const auto count = static_cast<double>(cell.count);
            switch (items[i].kind) {
                case AggregateKind::count_rows:
                case AggregateKind::count:
                    values[i] = count;
                    break;
                case AggregateKind::sum:
                case AggregateKind::minimum:
                case AggregateKind::maximum:
                    values[i] = cell.count == 0 ? missing : cell.a;
                    break;
                case AggregateKind::mean:
                    values[i] = cell.count == 0 ? missing : cell.a / count;
                    break;
                default:
                    if constexpr (Table::is_wide) values[i] = lower_wide(state, cell, items[i]);
                    break;
            }
        }
        return values;
    }

  private:
    static constexpr double missing = std::numeric_limits<double>::quiet_NaN();

    static void take_extreme(Cell& cell, AggregateKind kind, double value, bool is_first) noexcept {
        const bool replaces =
            is_first || (kind == AggregateKind::minimum ? value < cell.a : value > cell.a);
        if (replaces) cell.a = value;
    }

    void add_wide(State& state, Cell& cell, const TableAggregateItem& item, const Row& row) const {
        switch (item.kind) {
            case AggregateKind::deviation:
            case AggregateKind::variance: {
                const double value = row.values[item.value].number;
                const double distance = value - cell.a;
                cell.a += distance / static_cast<double>(cell.count);
                cell.b += distance * (value - cell.a);
                break;
            }
            case AggregateKind::quantile:
                state.sketches[item.sketch].digest.add(row.values[item.value].number);
                break;
            case AggregateKind::distinct:
                state.sketches[item.sketch].seen.insert(hash_of(row.text(item.value)));
                break;
            case AggregateKind::distinct_approximately:
                state.sketches[item.sketch].about.add(row.text(item.value));
                break;
            default:
                break;
        }
    }

    /// `before`: the count of the sum's cell without the newer.
    void combine_wide(State& sum, const State& newer, std::size_t i, std::uint64_t before) const {
        const TableAggregateItem& item = plan_->items[i];
        switch (item.kind) {
            case AggregateKind::deviation:
            case AggregateKind::variance: {
                Cell& cell = sum.cells[i];
                const Cell& other = newer.cells[i];
                const double share =
                    static_cast<double>(other.count) / static_cast<double>(cell.count);
                const double distance = other.a - cell.a;
                cell.a = before == 0 ? other.a : cell.a + distance * share;
                cell.b += other.b + distance * distance * share * static_cast<double>(before);
                break;
            }
            case AggregateKind::quantile:
                sum.sketches[item.sketch].digest.merge(newer.sketches[item.sketch].digest);
                break;
            case AggregateKind::distinct: {
                const auto& seen = newer.sketches[item.sketch].seen;
                sum.sketches[item.sketch].seen.insert(seen.begin(), seen.end());
                break;
            }
            case AggregateKind::distinct_approximately:
                sum.sketches[item.sketch].about.merge(newer.sketches[item.sketch].about);
                break;
            default:
                break;
        }
    }

    static double lower_wide(const State& state, const Cell& cell, const TableAggregateItem& item) {
        switch (item.kind) {
            case AggregateKind::deviation:
            case AggregateKind::variance: {
                if (cell.count < 2) return missing;
                const double variance = cell.b / static_cast<double>(cell.count - 1);
                return item.kind == AggregateKind::variance ? variance : std::sqrt(variance);
            }
            case AggregateKind::quantile:
                return state.sketches[item.sketch].digest.quantile(item.q);
            case AggregateKind::distinct:
                return static_cast<double>(state.sketches[item.sketch].seen.size());
            case AggregateKind::distinct_approximately:
                return std::round(state.sketches[item.sketch].about.estimate());
            default:
                return missing;
        }
    }

    std::shared_ptr<const TablePlan> plan_;
};
static_assert(sizeof(TableAggregate<NarrowTable>::State) == 64);

}  // namespace strid::tool
