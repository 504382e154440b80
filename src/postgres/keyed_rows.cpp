// SPDX-License-Identifier: Apache-2.0
#include "keyed_rows.hpp"

#include <string_view>
#include <utility>

#include <strid/base/error.hpp>

namespace strid::postgres {

namespace {

constexpr const char* statement = "strid_find";

/// A value that cannot be converted, or computed with.
bool is_of_data(const Result& result) {
    const char* const code = ::PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    return code != nullptr && std::string_view(code).starts_with("22");
}

/// Whether the key's column may have the value; else no row has it.
bool may_be_there(Connection& connection, const char* value) {
    const Result described(::PQdescribePrepared(connection.get(), statement));
    if (::PQresultStatus(described.get()) != PGRES_COMMAND_OK) connection.fail(described.get());
    const ::Oid type = ::PQparamtype(described.get(), 0);
    const Result read(
        ::PQexecParams(connection.get(), "select $1", 1, &type, &value, nullptr, nullptr, 0));
    if (is_of_data(read)) return false;
    if (::PQresultStatus(read.get()) != PGRES_TUPLES_OK) connection.fail(read.get());
    return true;
}

}  // namespace

KeyedRows::KeyedRows(TransportAddress address, TableQuery asked)
    : rows_(address),
      asked_(std::move(asked)),
      address_(address.text()),
      connection_(address, Connection::of_reader()) {}

void KeyedRows::open() {
    connection_.open();
    const std::string source = rows_.query.empty() ? quoted_table(connection_, rows_.table)
                                                   : detail::in_parentheses(rows_.query);
    const std::string query = detail::query_of_key(
        asked_, source, "$1", [this](std::string_view name) { return connection_.quoted(name); });
    const Result prepared(::PQprepare(connection_.get(), statement, query.c_str(), 0, nullptr));
    if (::PQresultStatus(prepared.get()) != PGRES_COMMAND_OK) connection_.fail(prepared.get());
}

std::optional<std::vector<std::string>> KeyedRows::find(const std::string& key) {
    if (key.find('\0') != std::string::npos) return std::nullopt;  // no text of the server has it
    const char* const value = key.c_str();
    const Result found(
        ::PQexecPrepared(connection_.get(), statement, 1, &value, nullptr, nullptr, 0));
    if (::PQresultStatus(found.get()) != PGRES_TUPLES_OK) {
        if (is_of_data(found) && !may_be_there(connection_, value)) return std::nullopt;
        connection_.fail(found.get());
    }
    const int rows = ::PQntuples(found.get());
    if (rows == 0) return std::nullopt;
    if (rows > 1) throw InputOutputError(address_ + ": the key " + key + " is there twice");
    std::vector<std::string> values;
    for (int i = 0; i != ::PQnfields(found.get()); ++i) {
        values.emplace_back(::PQgetvalue(found.get(), 0, i));
    }
    return values;
}

}  // namespace strid::postgres
