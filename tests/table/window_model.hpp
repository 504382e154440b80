// SPDX-License-Identifier: Apache-2.0
//
// Windows, sessions and deduplication row by row, as plain loops over values: the oracle of the
// operators over chunks. It keeps every row, and computes each window anew.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <strid/table/window.hpp>

#include "table_rows.hpp"

namespace strid::table::test {

constexpr std::int64_t time_min = std::numeric_limits<std::int64_t>::min();

/// The value of an aggregate over rows in the order in which they came; `first` and `last` go by
/// that order, or by the column `time`.
inline Value aggregated(const Aggregate& aggregate, const Schema& schema,
                        std::optional<std::size_t> time, const std::vector<Row>& rows) {
    if (aggregate.column.empty()) return static_cast<std::int64_t>(rows.size());
    const std::size_t column = schema.place_of(aggregate.column);
    const Type type = schema[column].type;
    std::vector<Value> values;
    std::int64_t first_at = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_at = time_min;
    Value first;
    Value last;
    for (const Row& row : rows) {
        if (std::holds_alternative<std::monostate>(row[column])) continue;
        values.push_back(row[column]);
        const std::int64_t at = time ? std::get<std::int64_t>(row[*time]) : 0;
        if (at < first_at) first = row[column], first_at = at;
        if (at >= last_at) last = row[column], last_at = at;
    }
    const double units = type.kind == Kind::decimal ? 100 : 1;  // of decimal(2)
    const auto number = [&](const Value& value) {
        const auto* integer = std::get_if<std::int64_t>(&value);
        return integer != nullptr ? static_cast<double>(*integer) / units : std::get<double>(value);
    };
    switch (aggregate.function) {
        case AggregateFunction::count:
            return static_cast<std::int64_t>(values.size());
        case AggregateFunction::count_distinct:
            return static_cast<std::int64_t>(std::set<Value>(values.begin(), values.end()).size());
        case AggregateFunction::first:
            return first;
        case AggregateFunction::last:
            return last;
        default:
            break;
    }
    if (values.empty()) return {};
    std::ranges::sort(values);
    if (aggregate.function == AggregateFunction::min) return values.front();
    if (aggregate.function == AggregateFunction::max) return values.back();
    if (aggregate.function == AggregateFunction::quantile) {
        const double place = aggregate.fraction * static_cast<double>(values.size() - 1);
        const auto below = static_cast<std::size_t>(place);
        const double low = number(values[below]);
        if (below + 1 == values.size()) return low;
        return low + (number(values[below + 1]) - low) * (place - static_cast<double>(below));
    }
    const auto count = static_cast<std::int64_t>(values.size());
    if (type.kind == Kind::float64) {
        double sum = 0;
        for (const Value& value : values) sum += std::get<double>(value);
        if (aggregate.function == AggregateFunction::sum) return sum;
        return sum / static_cast<double>(count);
    }
    std::int64_t sum = 0;
    for (const Value& value : values) sum += std::get<std::int64_t>(value);
    if (aggregate.function == AggregateFunction::sum) return sum;
    if (type.kind == Kind::interval) return sum / count;
    return static_cast<double>(sum) / (units * static_cast<double>(count));
}

class WindowModel {
  public:
    WindowModel(WindowSpec spec, Schema schema, std::int64_t disorder)
        : spec_(std::move(spec)),
          schema_(std::move(schema)),
          disorder_(disorder),
          time_(schema_.place_of("at")) {}

    void add(const Row& row) {
        const std::int64_t at = std::get<std::int64_t>(row[time_]);
        Row key;
        for (const std::string& name : spec_.keys) key.push_back(row[schema_.place_of(name)]);
        if (const auto* windows = std::get_if<window::TimeWindows>(&spec_.windows)) {
            add_to_windows(*windows, key, at, row);
        } else if (const auto* sessions = std::get_if<window::SessionWindows>(&spec_.windows)) {
            if (!add_to_session(sessions->gap().count(), key, at, row)) late.push_back(row);
        } else {
            const auto length =
                static_cast<std::int64_t>(std::get<window::CountWindows>(spec_.windows).length());
            auto& [first, rows] = counted_[key];
            rows.push_back(row);
            if (std::ssize(rows) == length) {
                give(key, first, first + length, rows);
                first += length;
                rows.clear();
            }
        }
        if (latest_ == time_min || at > latest_) latest_ = at;
        const bool is_at_end = disorder_ == std::numeric_limits<std::int64_t>::max();
        watermark_ = is_at_end ? time_min : latest_ - disorder_;
    }
    void end() {
        for (const auto& [place, rows] : windows_) {
            give(place.first, place.second.first, place.second.second, rows);
        }
        for (const auto& [key, counted] : counted_) {
            const auto& [first, rows] = counted;
            if (!rows.empty()) give(key, first, first + std::ssize(rows), rows);
        }
        for (const auto& [key, sessions] : sessions_) {
            for (const Session& session : sessions) {
                give(key, session.start, session.end, session.rows);
            }
        }
    }

    std::vector<Row> results;
    std::vector<Row> late;

  private:
    struct Session {
        std::int64_t start;
        std::int64_t end;
        std::vector<Row> rows;
    };

    void give(Row key, std::int64_t start, std::int64_t end, const std::vector<Row>& rows) {
        key.emplace_back(start);
        key.emplace_back(end);
        for (const Aggregate& aggregate : spec_.aggregates) {
            const auto time = spec_.time.empty() ? std::nullopt : std::optional(time_);
            key.push_back(aggregated(aggregate, schema_, time, rows));
        }
        results.push_back(std::move(key));
    }
    void add_to_windows(const window::TimeWindows& windows, const Row& key, std::int64_t at,
                        const Row& row) {
        const std::int64_t slide = windows.slide().count();
        bool is_in_one = false;
        bool is_taken = false;
        // Each start there may be, one after the other.
        std::int64_t start = windows.offset().count();
        while (start > at - windows.length().count() - slide) start -= slide;
        while (start <= at - windows.length().count()) start += slide;
        for (; start <= at; start += slide) {
            const std::int64_t end = start + windows.length().count();
            is_in_one = true;
            if (watermark_ != time_min && end + spec_.lateness.count() <= watermark_) continue;
            is_taken = true;
            windows_[{key, {start, end}}].push_back(row);
        }
        if (is_in_one && !is_taken) late.push_back(row);
    }
    bool add_to_session(std::int64_t gap, const Row& key, std::int64_t at, const Row& row) {
        const auto is_closed = [&](std::int64_t end) {
            return watermark_ != time_min && end + 1 + spec_.lateness.count() <= watermark_;
        };
        auto& sessions = sessions_[key];
        std::vector<Session*> touched;
        for (Session& session : sessions) {
            if (session.end >= at && session.start <= at + gap) touched.push_back(&session);
        }
        Session* within = nullptr;
        for (Session* session : touched) {
            if (session->start <= at) within = session;
        }
        if (is_closed(at + gap)) {
            if (within == nullptr || is_closed(within->end)) return false;
            within->rows.push_back(row);
            return true;
        }
        for (const Session* session : touched) {
            if (is_closed(session->end)) return false;
        }
        Session made{at, at + gap, {}};
        for (const Session* session : touched) {
            made.start = std::min(made.start, session->start);
            made.end = std::max(made.end, session->end);
            made.rows.insert(made.rows.end(), session->rows.begin(), session->rows.end());
        }
        made.rows.push_back(row);
        std::erase_if(sessions, [&](const Session& session) {
            return session.end >= at && session.start <= at + gap;
        });
        sessions.push_back(std::move(made));
        return true;
    }

    WindowSpec spec_;
    Schema schema_;
    std::int64_t disorder_;
    std::size_t time_;
    std::int64_t latest_ = time_min;
    std::int64_t watermark_ = time_min;
    std::map<std::pair<Row, std::pair<std::int64_t, std::int64_t>>, std::vector<Row>> windows_;
    std::map<Row, std::vector<Session>> sessions_;
    std::map<Row, std::pair<std::int64_t, std::vector<Row>>> counted_;
};

}  // namespace strid::table::test
