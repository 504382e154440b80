// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::sqlite {

namespace {

/// Behind the options of a table.
TransportAddress& without_more(TransportAddress& address) {
    address.expect_no_more("an output has 'table', 'keys' and 'sink'");
    return address;
}

}  // namespace

InsertOutput::InsertOutput(TransportAddress address)
    : table_(address),
      address_(address.text()),
      database_(without_more(address), Database::Use::writes) {}

void InsertOutput::open(const std::vector<std::string>& columns) {
    close();
    database_.open();
    const std::string target = quoted(table_.name);
    std::vector<std::string> names = columns;
    if (names.empty()) {
        const Statement all = database_.prepare("select * from " + target + " limit 0");
        for (int i = 0; i != ::sqlite3_column_count(all.get()); ++i) {
            names.emplace_back(::sqlite3_column_name(all.get(), i));
        }
    }
    columns_ = names.size();
    std::string values;
    for (std::size_t i = 0; i != columns_; ++i) values += i == 0 ? "?" : ", ?";
    insert_ = database_.prepare(fmt::format("insert into {} ({}) values ({}){}", target,
                                            detail::list_of(names, quoted), values,
                                            detail::on_conflict(names, table_.keys, quoted)));
}

void InsertOutput::close() noexcept {
    insert_.reset();
    has_begun_ = false;
    database_.close();
}

// The lock for writing is taken at once: one that is taken later may be refused without a wait.
void InsertOutput::begin() {
    if (has_begun_) return;
    database_.run("begin immediate");
    has_begun_ = true;
}

void InsertOutput::insert(std::vector<CsvField>& fields) {
    if (fields.size() != columns_) {
        throw InputOutputError(fmt::format("{}: a row has {} fields, and {} columns are written",
                                           address_, fields.size(), columns_));
    }
    ::sqlite3_stmt* const row = insert_.get();
    for (std::size_t i = 0; i != columns_; ++i) {
        const bool is_null = !fields[i].quoted && fields[i].begin == fields[i].end;
        const std::string_view text = unescape_csv(fields[i]);
        const int place = static_cast<int>(i) + 1;
        const int code = is_null ? ::sqlite3_bind_null(row, place)
                                 : ::sqlite3_bind_text64(row, place, text.data(), text.size(),
                                                         SQLITE_STATIC, SQLITE_UTF8);
        if (code != SQLITE_OK) database_.fail(code);
    }
    database_.step(insert_);
    ::sqlite3_reset(row);
}

void InsertOutput::write(std::string_view rows) {
    begin();
    rows_.for_each(rows, address_,
                   [this](std::string_view, std::vector<CsvField>& fields) { insert(fields); });
}

void InsertOutput::commit() {
    if (!has_begun_) return;
    database_.run("commit");
    has_begun_ = false;
}

void InsertOutput::commit(const Epoch& epoch) {
    begin();
    const Statement insert = database_.prepare(
        "insert into strid_epochs (stream, epoch, at) values (?, ?, datetime('now')) "
        "on conflict (stream) do update set epoch = excluded.epoch, at = excluded.at "
        "where strid_epochs.epoch < excluded.epoch");
    ::sqlite3_bind_text(insert.get(), 1, epoch.stream.data(), static_cast<int>(epoch.stream.size()),
                        SQLITE_STATIC);
    ::sqlite3_bind_int64(insert.get(), 2, static_cast<::sqlite3_int64>(epoch.number));
    database_.step(insert);
    if (database_.changes() != 1) {
        throw ConnectionLost(
            fmt::format("{}: another process has added epoch {}", address_, epoch.number));
    }
    commit();
}

std::uint64_t InsertOutput::last_epoch(std::string_view stream) {
    database_.run(
        "create table if not exists strid_epochs "
        "(stream text primary key, epoch integer not null, at text not null)");
    const Statement select = database_.prepare("select epoch from strid_epochs where stream = ?");
    ::sqlite3_bind_text(select.get(), 1, stream.data(), static_cast<int>(stream.size()),
                        SQLITE_STATIC);
    if (!database_.step(select)) return 0;
    return static_cast<std::uint64_t>(::sqlite3_column_int64(select.get(), 0));
}

}  // namespace strid::sqlite
