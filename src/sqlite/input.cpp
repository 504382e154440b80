// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <algorithm>
#include <cstring>

#include <strid/engine/connector/csv_row.hpp>
#include <strid/engine/connector/sql_table.hpp>

namespace strid::sqlite {

namespace {

/// Rows are read ahead up to so many bytes.
constexpr std::size_t text_bytes = std::size_t{64} << 10;

/// Takes its options.
std::string query_of(TransportAddress& address) {
    const detail::RowsOptions rows(address);
    address.expect_no_more("an input has 'table' and 'query'");
    return rows.query.empty() ? "select * from " + quoted(rows.table) : rows.query;
}

}  // namespace

QueryInput::QueryInput(TransportAddress address)
    : query_(query_of(address)), database_(address, Database::Use::reads) {
    database_.open();
    rows_ = database_.prepare(query_);
    if (::sqlite3_stmt_readonly(rows_.get()) == 0) {
        throw InputOutputError(address.text() + ": the query changes the database");
    }
    const int columns = ::sqlite3_column_count(rows_.get());
    for (int i = 0; i != columns; ++i) {
        if (i != 0) text_ += ',';
        append_csv_field(text_, ::sqlite3_column_name(rows_.get(), i), ',');
    }
    text_ += '\n';
}

void QueryInput::append_value(int column) {
    const int type = ::sqlite3_column_type(rows_.get(), column);
    if (type == SQLITE_NULL) return;
    if (type == SQLITE_FLOAT || type == SQLITE_BLOB) {
        return sqlite::append_value(text_, rows_, column);
    }
    const std::string_view text = bytes_of(rows_, column);
    if (text.empty()) {
        text_ += "\"\"";  // which NULL is not
    } else {
        append_csv_field(text_, text, ',');
    }
}

void QueryInput::append_row() {
    const std::size_t before = text_.size();
    const int columns = ::sqlite3_column_count(rows_.get());
    for (int i = 0; i != columns; ++i) {
        if (i != 0) text_ += ',';
        append_value(i);
    }
    if (text_.size() == before) text_ += "\"\"";  // not a blank line, which readers pass over
    text_ += '\n';
}

ByteReader::Result QueryInput::read(std::span<char> out, int /*wait_ms*/) {
    if (given_ == text_.size()) {
        text_.clear();
        given_ = 0;
        while (rows_ && text_.size() < text_bytes) {
            if (database_.step(rows_)) {
                append_row();
            } else {
                rows_.reset();
                database_.close();
            }
        }
        if (text_.empty()) return {ByteReader::Status::end, 0};
    }
    const std::size_t bytes = std::min(out.size(), text_.size() - given_);
    std::memcpy(out.data(), text_.data() + given_, bytes);
    given_ += bytes;
    return {ByteReader::Status::read, bytes};
}

}  // namespace strid::sqlite
