// SPDX-License-Identifier: Apache-2.0
#include "window_operator.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "value_text.hpp"

namespace strid::table {

namespace {

std::string interval_text(Duration length) {
    std::string text;
    append_interval_text(text, length.count());
    return text;
}

struct DescribeWindows {
    std::string operator()(const window::TimeWindows& windows) const {
        if (windows.is_calendar()) return "of the calendar";
        std::string text = windows.length() == windows.slide()
                               ? "tumbling " + interval_text(windows.length())
                               : fmt::format("sliding {} every {}", interval_text(windows.length()),
                                             interval_text(windows.slide()));
        if (windows.offset() != Duration::zero()) {
            text += " from " + interval_text(windows.offset());
        }
        return text;
    }
    std::string operator()(const window::SessionWindows& windows) const {
        return "sessions " + interval_text(windows.gap());
    }
    std::string operator()(const window::CountWindows& windows) const {
        return fmt::format("of {} rows", windows.length());
    }
};

std::string described(const WindowSpec& spec) {
    std::string text = "window " + std::visit(DescribeWindows{}, spec.windows);
    if (!spec.time.empty()) text += " of " + spec.time;
    for (std::size_t i = 0; i != spec.keys.size(); ++i) {
        text += (i == 0 ? " by " : ", ") + spec.keys[i];
    }
    if (spec.lateness != Duration::zero()) text += ", lateness " + interval_text(spec.lateness);
    for (std::size_t i = 0; i != spec.aggregates.size(); ++i) {
        const Aggregate& aggregate = spec.aggregates[i];
        const std::string computed = aggregate.text();
        text += (i == 0 ? ": " : ", ") + computed;
        if (computed != aggregate.name) text += " as " + aggregate.name;
    }
    return text;
}

}  // namespace

std::size_t time_column(const std::string& name, const Schema& schema) {
    const std::size_t column = schema.place_of(name);
    if (schema[column].type.kind == Kind::time) return column;
    throw GraphError(fmt::format("column '{}' is {}: event time takes a column of type time", name,
                                 name_of(schema[column].type)));
}

void require_times(Chunk& chunk, std::size_t column, OnFault on_fault, ChunkMemory& memory) {
    const Column& times = chunk.column(column);
    if (!times.has_nulls()) return;
    std::vector<std::uint16_t> kept;
    for (std::size_t row = 0; row != chunk.rows(); ++row) {
        if (!times.is_null(row)) {
            kept.push_back(static_cast<std::uint16_t>(row));
        } else if (on_fault == OnFault::stop) {
            throw EvaluationError(fmt::format("the event time '{}' is NULL (row {} of its chunk)",
                                              chunk.schema()[column].name, row + 1));
        }
    }
    chunk.keep_rows(kept, memory);
}

void LateRows::part(Chunk& chunk, std::span<const std::uint16_t> late,
                    std::span<const std::uint16_t> kept, ChunkMemory& memory, ChunkOutput& output) {
    if (late.empty()) return;
    Chunk apart = kept.empty() ? std::move(chunk) : chunk;
    apart.keep_rows(late, memory);
    apart.set_watermarks({});
    output.late(std::move(apart));
    if (kept.empty()) {
        chunk = Chunk{};
    } else {
        chunk.keep_rows(kept, memory);
    }
}

WindowOperator::WindowOperator(const WindowSpec& spec, const Schema& schema, OnFault on_fault)
    : spec_(spec),
      input_(schema),
      on_fault_(on_fault),
      keys_(std::make_shared<const KeyRows>(spec.keys, schema)),
      aggregates_(spec.aggregates, schema, on_fault),
      row_keys_(chunk_rows_max * keys_->words()),
      hashes_(chunk_rows_max),
      places_(chunk_rows_max),
      groups_(chunk_rows_max),
      states_(chunk_rows_max),
      text_(described(spec)) {
    if (spec.lateness < Duration::zero()) throw GraphError("the lateness of a window is negative");
    const bool counts = std::holds_alternative<window::CountWindows>(spec.windows);
    if (!counts) {
        if (spec.time.empty()) throw GraphError(text_ + ": there is no event time");
        time_ = time_column(spec.time, schema);
    }
    std::vector<Field> fields = keys_->fields();
    const Type bound{counts ? Kind::int64 : Kind::time};
    fields.push_back({"window_start", bound});
    fields.push_back({"window_end", bound});
    for (const Field& field : aggregates_.fields()) fields.push_back(field);
    output_ = Schema(std::move(fields));
}

void WindowOperator::read_keys(const Chunk& chunk) {
    keys_->read(chunk, row_keys_.data(), hashes_.data());
}

void WindowOperator::give(const std::uint64_t* key, std::int64_t start, std::int64_t end,
                          const std::byte* state, ChunkOutput& output) {
    const std::size_t text_bytes = keys_->text_bytes(key) + aggregates_.text_bytes(state);
    char* to = text_bytes == 0 ? nullptr : texts_.room(text_bytes);
    if (results_.schema().size() != 0 && (results_.rows() == chunk_rows_max ||
                                          (text_bytes != 0 && !results_.hold(texts_.block())))) {
        send(output);
    }
    if (results_.schema().size() == 0) results_ = Chunk(output_, memory_);
    if (text_bytes != 0) (void)results_.hold(texts_.block());
    const std::size_t row = results_.rows();
    const std::size_t keys = keys_->fields().size();
    keys_->write(key, results_, row, to);
    results_.column(keys).values<std::int64_t>()[row] = start;
    results_.column(keys + 1).values<std::int64_t>()[row] = end;
    aggregates_.write(state, results_, keys + 2, row, to);
    results_.set_rows(row + 1);
}

void WindowOperator::send(ChunkOutput& output) {
    if (results_.rows() == 0) return;
    results_.fit(memory_);
    Chunk full = std::exchange(results_, Chunk{});
    output.emit(std::move(full));
}

std::unique_ptr<TableOperator> windowed(const WindowSpec& spec, const Schema& schema,
                                        OnFault on_fault) {
    switch (spec.windows.index()) {
        case 0:
            return time_windowed(spec, schema, on_fault);
        case 1:
            return session_windowed(spec, schema, on_fault);
        default:
            return count_windowed(spec, schema, on_fault);
    }
}

}  // namespace strid::table
