// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace strid::postgres {

CopyOutput::CopyOutput(TransportAddress address)
    : table_(address), address_(address.text()), connection_(address) {}

/// The names in quotes.
std::string CopyOutput::list(const std::vector<std::string>& names) {
    return detail::list_of(names,
                           [this](std::string_view name) { return connection_.quoted(name); });
}

void CopyOutput::open(const std::vector<std::string>& columns) {
    connection_.open();
    has_begun_ = is_copying_ = false;
    target_ = quoted_table(connection_, table_.name);
    columns_ = columns;
    const std::string named = columns.empty() ? "*" : list(columns);
    const Result row =
        connection_.run("select " + named + " from " + target_ + " limit 0", PGRES_TUPLES_OK);
    if (!columns.empty()) return;
    for (int i = 0; i != ::PQnfields(row.get()); ++i) {
        columns_.emplace_back(::PQfname(row.get(), i));
    }
}

void CopyOutput::begin() {
    if (!std::exchange(has_begun_, true)) connection_.run("begin", PGRES_COMMAND_OK);
}

// With keys the rows come into a table beside, of the transaction: one command replaces all.
void CopyOutput::begin_copy() {
    begin();
    std::string into = target_;
    if (!table_.keys.empty()) {
        into = "pg_temp.strid_rows";
        connection_.run(fmt::format("create temporary table strid_rows on commit drop as "
                                    "select {} from {} with no data",
                                    list(columns_), target_),
                        PGRES_COMMAND_OK);
    }
    connection_.run(fmt::format("copy {} ({}) from stdin (format csv)", into, list(columns_)),
                    PGRES_COPY_IN);
    is_copying_ = true;
}

void CopyOutput::write(std::string_view rows) {
    if (!is_copying_) begin_copy();
    constexpr std::size_t bytes_max = std::size_t{1} << 20;
    while (!rows.empty()) {
        const std::size_t bytes = std::min(rows.size(), bytes_max);
        if (::PQputCopyData(connection_.get(), rows.data(), static_cast<int>(bytes)) != 1) {
            connection_.fail();
        }
        rows.remove_prefix(bytes);
    }
}

void CopyOutput::end_copy() {
    if (!std::exchange(is_copying_, false)) return;
    if (::PQputCopyEnd(connection_.get(), nullptr) != 1) connection_.fail();
    connection_.expect_end();
    if (table_.keys.empty()) return;
    // Of several rows with the same keys the last one counts: a new table has them in their order.
    const std::string conflict = detail::on_conflict(
        columns_, table_.keys, [this](std::string_view name) { return connection_.quoted(name); });
    connection_.run(fmt::format("insert into {} ({}) select distinct on ({}) {} from "
                                "pg_temp.strid_rows order by {}, ctid desc{}",
                                target_, list(columns_), list(table_.keys), list(columns_),
                                list(table_.keys), conflict),
                    PGRES_COMMAND_OK);
}

void CopyOutput::commit() {
    end_copy();
    if (std::exchange(has_begun_, false)) connection_.run("commit", PGRES_COMMAND_OK);
}

void CopyOutput::commit(const Epoch& epoch) {
    begin();
    end_copy();
    const std::string stream(epoch.stream);
    const std::string number = std::to_string(epoch.number);
    // A server that still commits what a lost connection has sent holds this up, and is seen then.
    const Result set = connection_.run(
        "insert into strid_epochs (stream, epoch) values ($1, $2) on conflict (stream) do update "
        "set epoch = excluded.epoch, at = now() where strid_epochs.epoch < excluded.epoch",
        {stream.c_str(), number.c_str()}, PGRES_COMMAND_OK);
    if (std::string_view(::PQcmdTuples(set.get())) != "1") {
        throw ConnectionLost(
            fmt::format("{}: another connection has added epoch {}", address_, epoch.number));
    }
    commit();
}

/// The table of the epochs is made where it is missing.
void CopyOutput::make_epochs() {
    const auto is_there = [this] {
        const Result found =
            connection_.run("select to_regclass('strid_epochs') is not null", PGRES_TUPLES_OK);
        return *::PQgetvalue(found.get(), 0, 0) == 't';
    };
    if (has_epochs_ || is_there()) return;
    try {
        connection_.run(
            "create table if not exists strid_epochs (stream text primary key, "
            "epoch bigint not null, at timestamptz not null default now())",
            PGRES_COMMAND_OK);
    } catch (const InputOutputError&) {
        if (!is_there()) throw;  // else another sink was faster
    }
}

std::uint64_t CopyOutput::last_epoch(std::string_view stream) {
    make_epochs();
    has_epochs_ = true;
    const std::string name(stream);
    const Result row = connection_.run("select epoch from strid_epochs where stream = $1",
                                       {name.c_str()}, PGRES_TUPLES_OK);
    if (::PQntuples(row.get()) == 0) return 0;
    return std::stoull(::PQgetvalue(row.get(), 0, 0));
}

}  // namespace strid::postgres
