// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include <strid/base/error.hpp>
#include <strid/connector/csv_value.hpp>
#include <strid/engine/connector/plain_fields.hpp>
#include <strid/table/csv_chunks.hpp>

#include "decimal.hpp"
#include "value_text.hpp"

namespace strid::table {

namespace {

constexpr std::size_t wide_columns = 512;

/// Columns of the file for those of the schema.
CsvOptions with_columns(CsvOptions options, const Schema& schema) {
    if (schema.size() == 0) throw GraphError("csv_chunks: a table has at least one column");
    if (schema.size() > static_cast<std::size_t>(std::numeric_limits<std::int16_t>::max())) {
        throw GraphError("csv_chunks: more columns than 32,767");
    }
    if (!options.columns.empty()) return options;
    for (std::size_t i = 0; i != schema.size(); ++i) {
        if (options.header == CsvHeader::none) {
            options.columns.emplace_back(static_cast<int>(i + 1));
        } else {
            options.columns.emplace_back(schema[i].name);
        }
    }
    return options;
}

/// A NULL has a value that may be read.
void set_null(Column& column, Kind kind, std::size_t row) {
    if (kind == Kind::boolean) {
        column.values<std::uint8_t>()[row] = 0;
    } else if (kind == Kind::text) {
        column.values<std::string_view>()[row] = {};
    } else {
        column.values<std::int64_t>()[row] = 0;
    }
    column.set_null(row);
}

/// `text` is a field where it stands; of a row that ends before it, and of a word for no value, it
/// is nowhere. Behind an empty one is the quote that closes it, or what ends the field.
bool is_quoted_empty(std::string_view text) {
    return text.empty() && text.data() != nullptr && *text.data() == '"';
}

/// A decimal of at most 8 characters besides a minus sign, as read_decimal() reads it. False: not
/// sure.
bool scan_decimal(const char* begin, const char* end, unsigned scale, std::int64_t& units) {
    using strid::detail::DigitWord;
    constexpr unsigned scaled_max = 10;  // more digits may be more than a decimal has
    const bool is_negative = *begin == '-';
    begin += static_cast<int>(is_negative);
    const std::ptrdiff_t length = end - begin;
    if (!strid::detail::reads_words || length < 1 || length > DigitWord::characters_max) {
        return false;
    }
    DigitWord word(begin, length);
    std::size_t places = 0;
    if (const std::uint64_t others = word.others(); others != 0) {
        bool is_point = false;
        places = word.take_point(others, is_point);
        if (!is_point || places == 0 || (others & (others - 1)) != 0) return false;
    }
    if (places > scale || scale - places > scaled_max) return false;
    units = static_cast<std::int64_t>(word.number()) * powers_of_ten[scale - places];
    if (is_negative) units = -units;
    return true;
}

void append_row(std::string& out, const Chunk& chunk, std::size_t row, char delimiter) {
    const std::size_t before = out.size();
    for (std::size_t i = 0; i != chunk.schema().size(); ++i) {
        if (i != 0) out += delimiter;
        const Column& column = chunk.column(i);
        if (column.is_null(row)) continue;
        const Type type = chunk.schema()[i].type;
        if (type.kind == Kind::text) {
            const std::string_view text = column.values<std::string_view>()[row];
            if (text.empty()) out += "\"\"";  // an empty field is NULL
            append_csv_field(out, text, delimiter);
        } else {
            append_value(out, type, column.values<void>(), row);
        }
    }
    // Not a blank line, which readers pass over. A NULL in the only column becomes an empty text.
    if (out.size() == before) out += "\"\"";
    out += '\n';
}

}  // namespace

CsvChunks::CsvChunks(std::vector<std::string> paths, Schema schema, CsvOptions options)
    : CsvSource(std::move(paths), with_columns(std::move(options), schema), schema.size()),
      schema_(std::move(schema)) {
    const CsvOptions& read = CsvSource::options();
    is_plain_ = read.escape == '\0' && !read.decimal_comma && read.null_words.empty();
    for (const Field& field : schema_.fields()) {
        has_texts_ = has_texts_ || field.type.kind == Kind::text;
    }
}

void CsvChunks::plan_steps() {
    std::vector<std::int16_t> steps;
    for (std::size_t i = 0; i != columns().size(); ++i) {
        if (!has_field(i)) return;  // a ragged row: another one shows the places
        if (columns()[i] >= steps.size()) steps.resize(columns()[i] + 1, passed_over);
        if (steps[columns()[i]] != passed_over) return;  // asked for twice: read carefully
        steps[columns()[i]] = static_cast<std::int16_t>(i);
    }
    steps_ = std::move(steps);
}

// A range ahead takes a piece at once, a quarter of them at most (FileSource::ranges_for): a
// quarter is left for what is read now. Of pieces for long lines there are 4, each of which the
// reader holds too.
void CsvChunks::spare_text(Chunk& chunk) {
    auto& pieces = out_.pieces;
    if (!has_texts_ || std::ranges::find(pieces, text_) != pieces.end()) return;
    const TextOptions& text = options().text;
    const auto is_large = [&text](const memory::TextReference& piece) {
        return piece->capacity() > text.chunk_bytes + LineReader::slack_bytes;
    };
    std::erase_if(pieces, [&](const memory::TextReference& piece) {
        return piece.use_count() <= (is_large(piece) ? 2U : 1U);
    });
    const auto large = static_cast<std::size_t>(std::ranges::count_if(pieces, is_large));
    const bool are_few = is_large(text_)
                             ? large != 0
                             : pieces.size() - large >= std::max<std::size_t>(text.chunks, 4) / 2;
    if (are_few) {
        chunk = chunk.copied(memory_);
    } else {
        pieces.push_back(text_);
    }
}

CsvSource::Row CsvChunks::read_chunk(Chunk& chunk) {
    // Rows that are passed over, one at a time, are read again and again into the same chunk.
    const bool is_passing_rows = is_passing();
    // A piece of text has few rows of so many columns.
    const std::size_t rows_of_chunk =
        schema_.size() > wide_columns ? small_rows_max : chunk_rows_max;
    if (!is_passing_rows) {
        chunk = Chunk(schema_, memory_, rows_of_chunk);
    } else if (passed_.schema().size() == 0) {
        passed_ = Chunk(schema_, memory_, 1);
    }
    Chunk& filled = is_passing_rows ? passed_ : chunk;
    const std::size_t rows_max = is_passing_rows ? 1 : rows_of_chunk;
    std::size_t rows = 0;
    while (position_ != end_ && rows != rows_max) {
        if (!steps_.empty() && scan_row(filled, rows)) {
            ++rows;
            continue;
        }
        const Row row = read_row(filled, rows);
        if (row == Row::ready) ++rows;
        if (row == Row::partial && rows == 0) return row;
        if (row == Row::partial) break;
        if (row == Row::none && is_passing_rows) return row;
    }
    if (rows == 0) return Row::none;
    if (is_passing_rows) return Row::ready;
    chunk.set_rows(rows);
    chunk.fit(memory_);
    if (has_texts_) (void)chunk.hold(text_);  // the only one
    return Row::ready;
}

strid::detail::CsvFault CsvChunks::read_field(std::string_view text, Type type, Column& column,
                                              std::size_t row) {
    if ((type.kind == Kind::text ? text : strid::detail::trimmed(text)).empty()) {
        set_null(column, type.kind, row);
        return nullptr;
    }
    return read_value(text, type, column.values<void>(), row, number_format());
}

CsvSource::Row CsvChunks::read_row(Chunk& chunk, std::size_t row) {
    const Row found = next_row();
    if (found != Row::ready) return found;
    if (steps_.empty() && is_plain_) plan_steps();
    for (std::size_t i = 0; i != schema_.size(); ++i) {
        const std::string_view text = value_of(i);
        if (is_quoted_empty(text) && schema_[i].type.kind == Kind::text) {
            chunk.column(i).values<std::string_view>()[row] = text;
            continue;
        }
        const auto fault = read_field(text, schema_[i].type, chunk.column(i), row);
        if (fault == nullptr) continue;
        refuse_field(i, fault);
        forget_row(chunk, row);
        return Row::none;
    }
    return found;
}

// Another row takes the place of one that was refused: it may have values where that had none.
void CsvChunks::forget_row(Chunk& chunk, std::size_t row) {
    for (std::size_t i = 0; i != schema_.size(); ++i) {
        Column& column = chunk.column(i);
        if (column.has_nulls()) column.validity()[row / 64] |= std::uint64_t{1} << (row % 64);
    }
}

bool CsvChunks::scan_field(const char* begin, const char* end, Type type, Column& column,
                           std::size_t row) {
    if (begin == end) {
        set_null(column, type.kind, row);
        return true;
    }
    switch (type.kind) {
        case Kind::time: {
            constexpr std::int64_t ns_per_ms = 1'000'000;
            std::int64_t ms = 0;
            return strid::detail::read_whole_number(begin, end, ms) &&
                   !__builtin_mul_overflow(ms, ns_per_ms, &column.values<std::int64_t>()[row]);
        }
        case Kind::decimal:
            return scan_decimal(begin, end, type.scale, column.values<std::int64_t>()[row]);
        case Kind::int64:
            return strid::detail::read_whole_number(begin, end, column.values<std::int64_t>()[row]);
        case Kind::float64: {
            strid::detail::ShortNumber number;
            double& value = column.values<double>()[row];
            if (strid::detail::read_short_number(begin, end, number)) {
                value = number.is_decimal ? number.decimal : static_cast<double>(number.integer);
                return true;
            }
            return strid::detail::scan_floating(begin, end, value) && begin == end;
        }
        case Kind::text:
            column.values<std::string_view>()[row] = {begin, static_cast<std::size_t>(end - begin)};
            return true;
        default:
            return false;
    }
}

bool CsvChunks::scan_row(Chunk& chunk, std::size_t row) {
    const char* field = position_;
    if (*field == '\r' || *field == '\n' || is_comment(field)) return false;
    strid::detail::FieldEnds ends(field, options().delimiter);
    const char quote = options().quotes ? '"' : '\0';
    const char* end = nullptr;
    const auto refuse = [&] {
        forget_row(chunk, row);
        return false;
    };
    const std::size_t last = steps_.size() - 1;
    for (std::size_t i = 0;; ++i) {
        if (*field == quote) return refuse();
        end = ends.next();
        const char* text_end = end;
        if (*end == '\n') {
            if (i != last) return refuse();
            if (end != field && end[-1] == '\r') --text_end;
        }
        if (const std::int16_t column = steps_[i]; column != passed_over) {
            const auto place = static_cast<std::size_t>(column);
            const Type type = schema_[place].type;
            const std::string_view text(field, static_cast<std::size_t>(text_end - field));
            if (!scan_field(field, text_end, type, chunk.column(place), row) &&
                read_field(text, type, chunk.column(place), row) != nullptr) {
                return refuse();
            }
        }
        field = end + 1;
        if (i == last) break;
    }
    std::size_t fields = steps_.size();
    for (; *end != '\n'; ++fields) {
        if (*field == quote) return refuse();
        end = ends.next();
        field = end + 1;
    }
    if (fields != fields_per_row() && fields_per_row() != 0) return refuse();
    const auto length = static_cast<std::size_t>(end - position_);
    if (length > line_bytes_max() || is_header(position_, length)) return refuse();
    ++line_number_;
    scanned_ = position_;
    position_ += length + 1;
    return true;
}

CsvChunks csv_chunks(std::string path, const Schema& schema, CsvOptions options) {
    return CsvChunks({std::move(path)}, schema, std::move(options));
}

ChunkWriter::ChunkWriter(std::string path, Schema schema, char delimiter, Writing writing)
    : writer_(std::move(path), writing), schema_(std::move(schema)), delimiter_(delimiter) {
    check_csv_delimiter(delimiter);
}

void ChunkWriter::on(const Opened& opened) {
    std::string header;
    for (const Field& field : schema_.fields()) {
        if (!header.empty()) header += delimiter_;
        append_csv_field(header, field.name, delimiter_);
    }
    writer_.open(header + '\n', opened.context);
}

void ChunkWriter::operator()(const Chunk& chunk) {
    for (std::size_t row = 0; row != chunk.rows(); ++row) {
        append_row(writer_.rows(), chunk, row, delimiter_);
        writer_.row_done();
    }
}

ChunkWriter csv_from_chunks(std::string path, const Schema& schema, char delimiter,
                            Writing writing) {
    return {std::move(path), schema, delimiter, writing};
}

}  // namespace strid::table
