// SPDX-License-Identifier: Apache-2.0
#include "keyed_rows.hpp"

#include <cstdint>

#include <strid/base/error.hpp>
#include <strid/engine/connector/address_options.hpp>
#include <strid/engine/connector/sql_table.hpp>

namespace strid::sqlite {

namespace {

/// Takes the options of the address.
std::string keyed_query(TransportAddress& address, const TableQuery& asked) {
    const detail::RowsOptions rows(address);
    address.expect_no_more("a table that is asked has 'table' and 'query'");
    const std::string source =
        rows.query.empty() ? quoted(rows.table) : detail::in_parentheses(rows.query);
    return detail::query_of_key(asked, source, "?1, ?2", quoted);
}

/// The statement ends its transaction when it goes.
class Asked {
  public:
    Asked(const Statement& rows, const std::string& key) : rows_(rows.get()) {
        ::sqlite3_bind_text(rows_, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
        // A column of a type converts the text; one without, as that of an expression, does not.
        std::int64_t number = 0;
        if (detail::read_number(key, number) && std::to_string(number) == key) {
            ::sqlite3_bind_int64(rows_, 2, number);
        }
    }
    ~Asked() {
        ::sqlite3_reset(rows_);
        ::sqlite3_clear_bindings(rows_);
    }
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;

  private:
    ::sqlite3_stmt* const rows_;
};

}  // namespace

KeyedRows::KeyedRows(TransportAddress address, const TableQuery& asked)
    : address_(address.text()),
      query_(keyed_query(address, asked)),
      database_(address, Database::Use::reads) {}

void KeyedRows::open() {
    database_.open();
    rows_ = database_.prepare(query_);
}

std::optional<std::vector<std::string>> KeyedRows::find(const std::string& key) {
    const Asked asked(rows_, key);
    if (!database_.step(rows_)) return std::nullopt;
    std::vector<std::string> values(static_cast<std::size_t>(::sqlite3_column_count(rows_.get())));
    for (std::size_t i = 0; i != values.size(); ++i) {
        append_value(values[i], rows_, static_cast<int>(i));
    }
    if (database_.step(rows_)) {
        throw InputOutputError(address_ + ": the key " + key + " is there twice");
    }
    return values;
}

}  // namespace strid::sqlite
