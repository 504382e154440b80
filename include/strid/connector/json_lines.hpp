// SPDX-License-Identifier: Apache-2.0
//
// A source of typed records from JSON: an object a line, or arrays of objects, objects over several
// lines and text sequences of RFC 7464; from whatever a ByteReader reads. The record is a plain
// struct, a tuple or a single value; the options name the member for each of its fields, which are
// those of csv_file(): a string is read as the field of CSV with that text would be, and a number,
// true and false as they are written. A std::optional is empty where its member is null, missing or
// "".
//
//     graph.source(json_lines<Reading>("readings.jsonl", {.members = {"sensor.id", "at",
//     "value"}}))
//
// Text that is not valid JSON (RFC 8259) and objects whose members do not fit follow
// JsonOptions::on_malformed. See FileSource for threads and replicas.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/connector/fields.hpp>
#include <strid/connector/json_options.hpp>
#include <strid/engine/connector/json_source.hpp>
#include <strid/engine/connector/read_fields.hpp>

namespace strid {

/// The source that `json_lines` makes. Records are as those of CsvFile.
template <class T>
class JsonLines : public JsonSource {
  public:
    using record_type = T;
    static constexpr SourceTraits traits = with_ranges(JsonSource::traits);

    using JsonSource::on;
    void on(const TasksWanted& wanted) { bring_parsers(parsers_, wanted); }
    void on(Closed) noexcept { parsers_.close(); }

    /// Opens nothing yet. Throws GraphError where the members do not fit the record.
    explicit JsonLines(std::string path, JsonOptions options)
        : JsonSource(std::move(path), std::move(options), optional_fields()) {}

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        return poll_records<T, detail::holds_text<T>>(emit, budget, Objects{*this});
    }
    /// Parses a range, as a copy of the source that has read it.
    void parse(ParsedRows<T>& range) {
        parse_apart<T, detail::holds_text<T>>(range, range, Objects{*this});
    }

  private:
    struct Objects : RowsOfLines {
        explicit Objects(JsonLines& source) noexcept : file(&source) {}

        static constexpr bool joins_lines = true;
        [[gnu::always_inline]] Row operator()(T& record) const { return file->read_row(record); }
        void begin_text() const noexcept { file->pass_byte_order_mark(); }
        void refuse_partial() const { file->refuse_rest(); }
        void end_input() const { file->refuse_rest(); }
        void skip_to_line(std::uint64_t line) const noexcept { file->skip_to_line(line); }

        static constexpr bool reads_ranges = true;
        [[nodiscard]] bool begin_ranges() const {
            if (!file->has_lines()) return false;
            file->parsers_.set_pattern(*file);
            return true;
        }
        [[nodiscard]] bool takes_parsed() const noexcept { return true; }
        void forget_partial() const noexcept {}  // a line is whole
        void begin_apart() const noexcept { file->begin_apart(); }
        void behind_parsed(std::uint64_t line) const noexcept { file->skip_to_line(line); }

        JsonLines* file;
    };

    static std::vector<bool> optional_fields() {
        std::vector<bool> are_optional;
        T record{};
        detail::visit_fields(record, [&are_optional]<class Field>(std::size_t, Field&) {
            are_optional.push_back(detail::is_optional<Field>);
            return true;
        });
        return are_optional;
    }

    Row read_row(T& record) {
        const Row row = next_object();
        if (row != Row::ready) return row;
        const auto fault = detail::read_fields(
            record, [this](std::size_t index) { return text_of(index); }, non_finite());
        if (fault.reason == nullptr) return row;
        refuse_member(fault.field, fault.reason);
        return Row::none;
    }

    RangeParsers<JsonLines> parsers_;
};

/// The objects of `path` as records. Throws GraphError for options that do not fit T.
template <class T>
[[nodiscard]] auto json_lines([[maybe_unused]] std::string path,
                              [[maybe_unused]] JsonOptions options) {
    if constexpr (detail::takes_rows<T>()) {
        return JsonLines<T>(std::move(path), std::move(options));
    } else {
        return operators::NoSource<T>{};
    }
}

}  // namespace strid
