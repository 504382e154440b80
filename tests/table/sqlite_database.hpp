// SPDX-License-Identifier: Apache-2.0
//
// Rows in a database of SQLite in memory, and its answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sqlite3.h>

#include "table_rows.hpp"

namespace strid::table::test {

class Database {
  public:
    Database() {
        if (sqlite3_open(":memory:", &database_) != SQLITE_OK) throw std::runtime_error("sqlite");
    }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database() { sqlite3_close(database_); }

    void make_table(const Schema& schema, const std::vector<Row>& rows) {
        run("create table t(" + schema.text() + ")");
        std::string places;
        for (std::size_t i = 0; i != schema.size(); ++i) places += i == 0 ? "?" : ", ?";
        const auto insert = prepare("insert into t values (" + places + ")");
        for (const Row& row : rows) {
            for (std::size_t i = 0; i != row.size(); ++i) {
                bind(insert.get(), static_cast<int>(i + 1), row[i]);
            }
            if (sqlite3_step(insert.get()) != SQLITE_DONE) throw error();
            sqlite3_reset(insert.get());
        }
    }

    std::vector<Value> answers(const std::string& expression, Kind kind) {
        std::vector<Value> values;
        for (Row& row : rows("select " + expression + " from t order by rowid", {kind})) {
            values.push_back(std::move(row[0]));
        }
        return values;
    }
    /// Of a query, with values of these kinds.
    std::vector<Row> rows(const std::string& query, const std::vector<Kind>& kinds) {
        const auto select = prepare(query);
        std::vector<Row> found;
        while (sqlite3_step(select.get()) == SQLITE_ROW) {
            Row& row = found.emplace_back();
            for (std::size_t i = 0; i != kinds.size(); ++i) {
                row.push_back(read(select.get(), static_cast<int>(i), kinds[i]));
            }
        }
        return found;
    }

  private:
    using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

    std::runtime_error error() { return std::runtime_error(sqlite3_errmsg(database_)); }
    void run(const std::string& sql) {
        if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
            throw error();
        }
    }
    Statement prepare(const std::string& sql) {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
            throw error();
        }
        return {statement, &sqlite3_finalize};
    }
    static void bind(sqlite3_stmt* statement, int place, const Value& value) {
        if (std::holds_alternative<std::monostate>(value)) {
            sqlite3_bind_null(statement, place);
        } else if (const auto* truth = std::get_if<bool>(&value)) {
            sqlite3_bind_int64(statement, place, *truth ? 1 : 0);
        } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
            sqlite3_bind_int64(statement, place, *integer);
        } else if (const auto* number = std::get_if<double>(&value)) {
            sqlite3_bind_double(statement, place, *number);
        } else {
            sqlite3_bind_text(statement, place, std::get<std::string>(value).c_str(), -1,
                              SQLITE_TRANSIENT);
        }
    }
    static Value read(sqlite3_stmt* statement, int place, Kind kind) {
        if (sqlite3_column_type(statement, place) == SQLITE_NULL) return {};
        switch (kind) {
            case Kind::boolean:
                return sqlite3_column_int64(statement, place) != 0;
            case Kind::float64:
                return sqlite3_column_double(statement, place);
            case Kind::text:
                return std::string(
                    reinterpret_cast<const char*>(sqlite3_column_text(statement, place)));
            default:
                return std::int64_t{sqlite3_column_int64(statement, place)};
        }
    }

    sqlite3* database_ = nullptr;
};

}  // namespace strid::table::test
