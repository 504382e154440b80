// SPDX-License-Identifier: Apache-2.0
#include "published.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/connector/csv_row.hpp>

namespace strid::postgres {

namespace {

std::string value_of(const Result& result, int row, int column) {
    return ::PQgetvalue(result.get(), row, column);
}

[[noreturn]] void refuse(const std::string& address, const std::string& reason) {
    throw InputOutputError(address + ": " + reason);
}

void check_server(Connection& connection, const std::string& address) {
    const Result found = connection.run(
        "select current_setting('wal_level'), current_user, exists (select from pg_roles where "
        "rolname = current_user and (rolreplication or rolsuper))",
        PGRES_TUPLES_OK);
    if (const std::string level = value_of(found, 0, 0); level != "logical") {
        refuse(address,
               fmt::format("the server has wal_level = {}: changes are read where it is 'logical' "
                           "(alter system set wal_level = logical, and a restart of the server)",
                           level));
    }
    if (value_of(found, 0, 2) != "t") {
        const std::string user = value_of(found, 0, 1);
        refuse(address, fmt::format("the user '{}' may not read changes: alter role {} replication",
                                    user, connection.quoted(user)));
    }
}

/// A name that may have a schema in front: whether it is that of this table.
bool is_named(std::string_view name, const PublishedTable& table) {
    return name == table.name || name == table.full_name();
}

}  // namespace

std::string PublishedTable::header() const {
    std::string row;
    for (const std::string& column : columns) {
        if (!row.empty()) row += ',';
        append_csv_field(row, column, ',');
    }
    return row;
}

PublishedTable published_table(Connection& connection, const std::string& address,
                               const std::string& publication, const std::string& table) {
    check_server(connection, address);
    const Result there = connection.run("select from pg_publication where pubname = $1",
                                        {publication.c_str()}, PGRES_TUPLES_OK);
    if (::PQntuples(there.get()) == 0) {
        refuse(address, fmt::format("there is no publication '{}': create publication {} for "
                                    "table {}",
                                    publication, connection.quoted(publication),
                                    table.empty() ? "NAME" : quoted_table(connection, table)));
    }
    // Releases before 15 publish all columns and all rows.
    const Result tables = connection.run(
        "select schemaname, tablename, c.oid, to_jsonb(p) ->> 'rowfilter', relkind = 'p' from "
        "pg_publication_tables p join pg_namespace n on n.nspname = schemaname join pg_class c on "
        "c.relnamespace = n.oid and c.relname = tablename where pubname = $1 order by 1, 2",
        {publication.c_str()}, PGRES_TUPLES_OK);
    std::vector<PublishedTable> found;
    const int count = ::PQntuples(tables.get());
    for (int i = 0; i != count; ++i) {
        PublishedTable one{.schema = value_of(tables, i, 0),
                           .name = value_of(tables, i, 1),
                           .columns = {},
                           .filter = value_of(tables, i, 3),
                           .is_partitioned = value_of(tables, i, 4) == "t"};
        one.number = static_cast<std::uint32_t>(std::stoul(value_of(tables, i, 2)));
        if (table.empty() || is_named(table, one)) found.push_back(std::move(one));
    }
    if (found.size() > 1) {
        refuse(address,
               fmt::format("the publication '{}' has {} tables, '{}' and '{}' among them: "
                           "table=SCHEMA.NAME says which one is read",
                           publication, found.size(), found[0].full_name(), found[1].full_name()));
    }
    if (found.empty()) {
        refuse(address, table.empty()
                            ? fmt::format("the publication '{}' has no table", publication)
                            : fmt::format("the publication '{}' does not have the table '{}': "
                                          "alter publication {} add table {}",
                                          publication, table, connection.quoted(publication),
                                          quoted_table(connection, table)));
    }
    const std::string number = std::to_string(found.front().number);
    const Result columns = connection.run(
        "select attname from pg_attribute, (select to_jsonb(p) -> 'attnames' from "
        "pg_publication_tables p where pubname = $1 and schemaname = $2 and tablename = $3) of "
        "(names) where attrelid = $4::oid and attnum > 0 and not attisdropped and attgenerated = "
        "'' "
        "and (names is null or names ? attname) order by attnum",
        {publication.c_str(), found.front().schema.c_str(), found.front().name.c_str(),
         number.c_str()},
        PGRES_TUPLES_OK);
    for (int i = 0; i != ::PQntuples(columns.get()); ++i) {
        found.front().columns.push_back(value_of(columns, i, 0));
    }
    if (found.front().columns.empty()) {
        refuse(address, fmt::format("the table '{}' has no columns", found.front().full_name()));
    }
    return std::move(found.front());
}

std::string rows_query(Connection& connection, const PublishedTable& table) {
    std::string query = "select ";
    for (std::size_t i = 0; i != table.columns.size(); ++i) {
        query += (i == 0 ? "" : ", ") + connection.quoted(table.columns[i]);
    }
    query += table.is_partitioned ? " from " : " from only ";
    query += connection.quoted(table.schema) + '.' + connection.quoted(table.name);
    if (!table.filter.empty()) query += " where " + table.filter;
    return query;
}

std::optional<Lsn> slot_confirmed(Connection& connection, const std::string& address,
                                  const std::string& slot) {
    const Result found = connection.run(
        "select plugin, database = current_database(), confirmed_flush_lsn, wal_status from "
        "pg_replication_slots where slot_name = $1",
        {slot.c_str()}, PGRES_TUPLES_OK);
    if (::PQntuples(found.get()) == 0) return std::nullopt;
    if (value_of(found, 0, 0) != "pgoutput" || value_of(found, 0, 1) != "t") {
        refuse(address, fmt::format("the slot '{}' is none of pgoutput in this database", slot));
    }
    if (value_of(found, 0, 3) == "lost") {
        refuse(address,
               fmt::format("the server has dropped the changes that the slot '{}' has kept, "
                           "because they were more than max_slot_wal_keep_size: a run that begins "
                           "anew needs: select pg_drop_replication_slot('{}')",
                           slot, slot));
    }
    return read_lsn(value_of(found, 0, 2)).value_or(0);
}

}  // namespace strid::postgres
