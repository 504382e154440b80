// SPDX-License-Identifier: Apache-2.0
#include "aggregates.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/state/codec.hpp>

#include "aggregate_kernels.hpp"
#include "decimal.hpp"
#include "value_text.hpp"

namespace strid::table {

namespace {

constexpr std::size_t no_column = std::numeric_limits<std::size_t>::max();

constexpr std::string_view function_names[] = {
    "count", "sum", "min", "max", "avg", "first", "last", "count distinct", "quantile"};

bool is_number(Kind kind) {
    return kind == Kind::int64 || kind == Kind::float64 || kind == Kind::decimal;
}

/// Of the result, if the function takes the column.
std::optional<Type> result_type(AggregateFunction function, Type type) {
    switch (function) {
        case AggregateFunction::count:
        case AggregateFunction::count_distinct:
            return Type{Kind::int64};
        case AggregateFunction::sum:
            if (is_number(type.kind) || type.kind == Kind::interval) return type;
            return std::nullopt;
        case AggregateFunction::avg:
            if (type.kind == Kind::interval) return type;
            [[fallthrough]];
        case AggregateFunction::quantile:
            if (is_number(type.kind)) return Type{Kind::float64};
            return std::nullopt;
        default:
            return type;
    }
}

}  // namespace

std::string Aggregate::text() const {
    std::string text(function_names[static_cast<std::size_t>(function)]);
    const std::string quoted =
        column.empty() || is_plain_name(column) ? column : '"' + column + '"';
    if (function == AggregateFunction::count_distinct) {
        text = "count(distinct " + quoted + ')';
    } else if (function == AggregateFunction::quantile) {
        text += fmt::format("({}, {})", quoted, fraction);
    } else if (!column.empty()) {
        text += '(' + quoted + ')';
    }
    return text;
}

Aggregates::Aggregates(const std::vector<Aggregate>& aggregates, const Schema& schema,
                       OnFault on_fault)
    : on_fault_(on_fault) {
    if (aggregates.empty()) throw GraphError("a window computes at least one aggregate");
    for (const Aggregate& aggregate : aggregates) {
        One one{nullptr, no_column, bytes_, {}, aggregate.fraction};
        Type result{Kind::int64};
        if (aggregate.column.empty()) {
            if (aggregate.function != AggregateFunction::count) {
                throw GraphError(aggregate.text() + " takes a column");
            }
            one.kernel = &counting_kernel();
        } else {
            one.column = schema.place_of(aggregate.column);
            one.type = schema[one.column].type;
            const auto type = result_type(aggregate.function, one.type);
            if (!type) {
                throw GraphError(fmt::format("{}: column '{}' is {}", aggregate.text(),
                                             aggregate.column, name_of(one.type)));
            }
            result = *type;
            one.kernel = &kernel_of(aggregate.function, one.type.kind);
        }
        if (!(aggregate.fraction >= 0 && aggregate.fraction <= 1)) {
            throw GraphError(aggregate.text() + ": the fraction is from 0 to 1");
        }
        bytes_ += one.kernel->bytes;
        has_owners_ = has_owners_ || one.kernel->release != nullptr;
        has_texts_ = has_texts_ || result.kind == Kind::text;
        all_.push_back(one);
        texts_.push_back(aggregate.text());
        fields_.push_back({aggregate.name, result});
    }
}

void Aggregates::add(const RowsToAdd& rows) const {
    for (const One& one : all_) {
        const Column* const column =
            one.column == no_column ? nullptr : &rows.chunk.column(one.column);
        one.kernel->add(rows, column, one.offset);
    }
}

void Aggregates::combine(std::byte* into, const std::byte* from) const {
    for (const One& one : all_) one.kernel->combine(into + one.offset, from + one.offset);
}

void Aggregates::release(std::byte* state) const noexcept {
    if (!has_owners_) return;
    for (const One& one : all_) {
        if (one.kernel->release != nullptr) one.kernel->release(state + one.offset);
    }
}

std::size_t Aggregates::text_bytes(const std::byte* state) const {
    std::size_t bytes = 0;
    if (!has_texts_) return bytes;
    for (const One& one : all_) {
        if (one.type.kind != Kind::text) continue;
        bytes += one.kernel->value(state + one.offset, one.type, one.fraction).text.size();
    }
    return bytes;
}

void Aggregates::write(const std::byte* state, Chunk& chunk, std::size_t column, std::size_t row,
                       char*& to) const {
    for (std::size_t i = 0; i != all_.size(); ++i) {
        const One& one = all_[i];
        AggregateValue value = one.kernel->value(state + one.offset, one.type, one.fraction);
        const Type type = fields_[i].type;
        if (type.kind == Kind::decimal && !is_decimal(static_cast<std::int64_t>(value.word))) {
            value.is_beyond = true;
        }
        if (value.is_beyond && !value.is_null) {
            if (on_fault_ == OnFault::stop) {
                throw EvaluationError(
                    fmt::format("{}: the result is beyond {}", texts_[i], name_of(type)));
            }
            value = {.is_null = true};
        }
        Column& values = chunk.column(column + i);
        if (type.kind == Kind::text) {
            values.values<std::string_view>()[row] = {to, value.text.size()};
            to = std::copy(value.text.begin(), value.text.end(), to);
        } else if (type.kind == Kind::boolean) {
            values.values<std::uint8_t>()[row] = value.word != 0 ? 1 : 0;
        } else {
            values.values<std::uint64_t>()[row] = value.word;
        }
        if (value.is_null) values.set_null(row);
    }
}

void Aggregates::save(StateWriter& writer, const std::byte* state) const {
    for (const One& one : all_) {
        const std::byte* const mine = state + one.offset;
        if (one.kernel->save != nullptr) {
            one.kernel->save(writer, mine);
        } else {
            writer.bytes({mine, one.kernel->bytes});
        }
    }
}

void Aggregates::load(StateReader& reader, std::byte* state) const {
    for (const One& one : all_) {
        std::byte* const mine = state + one.offset;
        if (one.kernel->load != nullptr) {
            one.kernel->load(reader, mine);
        } else {
            std::memcpy(mine, reader.bytes(one.kernel->bytes).data(), one.kernel->bytes);
        }
    }
}

}  // namespace strid::table
