// SPDX-License-Identifier: Apache-2.0
#include "database.hpp"

#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_value.hpp>

namespace strid::sqlite {

namespace {

/// A file that another process has locked is waited for so long at once.
constexpr int busy_ms = 2'000;

/// How many inputs read each database of the process, and how many outputs write it.
struct Uses {
    std::mutex mutex;
    std::map<FileNumber, std::pair<int, int>> counts;  // under the mutex
};
Uses& uses_of_process() {
    static Uses all;
    return all;
}

std::string path_of(const TransportAddress& address) {
    std::string path = address.decoded_place();
    if (path.empty()) address.refuse("the address of a database is sqlite:PATH");
    return path;
}

}  // namespace

Database::Database(const TransportAddress& address, Use use)
    : address_(address.text()), path_(path_of(address)), use_(use) {}

void Database::open() {
    close();
    ::sqlite3* opened = nullptr;
    const int flags = use_ == Use::reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    const int code =
        ::sqlite3_open_v2(path_.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    {
        const std::lock_guard lock(mutex_);
        connection_ = opened;
        if (is_interrupted_ && opened != nullptr) ::sqlite3_interrupt(opened);
    }
    if (code != SQLITE_OK) {
        try {
            fail(code);
        } catch (...) {
            close();
            throw;
        }
    }
    ::sqlite3_extended_result_codes(opened, 1);
    ::sqlite3_busy_timeout(opened, busy_ms);
    try {
        check_use();
    } catch (...) {
        close();
        throw;
    }
}

/// A query holds a lock as long as it is read, which a transaction of the same process would wait
/// for in vain, unless the database has a write-ahead log.
void Database::check_use() {
    struct ::stat status {};
    if (::stat(path_.c_str(), &status) != 0) return;
    const FileNumber number{status.st_dev, status.st_ino};
    bool is_log = false;
    {
        const Statement mode = prepare("pragma journal_mode");
        is_log = step(mode) && std::string_view(reinterpret_cast<const char*>(
                                   ::sqlite3_column_text(mode.get(), 0))) == "wal";
    }
    Uses& uses = uses_of_process();
    const std::lock_guard lock(uses.mutex);
    auto& [readers, writers] = uses.counts[number];
    if (!is_log && (use_ == Use::reads ? writers : readers) != 0) {
        throw InputOutputError(
            address_ +
            ": this program reads and writes the database, which works where it has a write-ahead "
            "log: sqlite3 FILE 'pragma journal_mode = wal'");
    }
    ++(use_ == Use::reads ? readers : writers);
    used_ = number;
}

void Database::close() noexcept {
    if (used_) {
        Uses& uses = uses_of_process();
        const std::lock_guard lock(uses.mutex);
        auto& [readers, writers] = uses.counts[*used_];
        --(use_ == Use::reads ? readers : writers);
        used_.reset();
    }
    const std::lock_guard lock(mutex_);
    ::sqlite3_close_v2(std::exchange(connection_, nullptr));
}

void Database::interrupt() noexcept {
    const std::lock_guard lock(mutex_);
    is_interrupted_ = true;
    if (connection_ != nullptr) ::sqlite3_interrupt(connection_);
}

Statement Database::prepare(std::string_view sql) {
    ::sqlite3_stmt* made = nullptr;
    const char* rest = nullptr;
    const int code =
        ::sqlite3_prepare_v2(connection_, sql.data(), static_cast<int>(sql.size()), &made, &rest);
    Statement statement(made);
    if (code != SQLITE_OK) fail(code);
    const std::string_view left(rest, static_cast<std::size_t>(sql.data() + sql.size() - rest));
    if (statement == nullptr || left.find_first_not_of(" \t\n;") != std::string_view::npos) {
        throw InputOutputError(address_ + ": one statement is expected");
    }
    return statement;
}

bool Database::step(const Statement& statement) {
    const int code = ::sqlite3_step(statement.get());
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) fail(code);
    return false;
}

void Database::run(std::string_view sql) {
    const Statement statement = prepare(sql);
    while (step(statement)) continue;
}

void Database::fail(int code) {
    const char* const text =
        connection_ == nullptr ? ::sqlite3_errstr(code) : ::sqlite3_errmsg(connection_);
    const std::string reason = address_ + ": " + text;
    const int kind = code & 0xff;
    const bool is_passing =
        kind == SQLITE_BUSY || kind == SQLITE_LOCKED || kind == SQLITE_INTERRUPT;
    if (is_passing) throw ConnectionLost(reason);
    throw InputOutputError(reason);
}

std::string_view bytes_of(const Statement& row, int column) {
    const void* const data = ::sqlite3_column_type(row.get(), column) == SQLITE_BLOB
                                 ? ::sqlite3_column_blob(row.get(), column)
                                 : ::sqlite3_column_text(row.get(), column);
    return {static_cast<const char*>(data),
            static_cast<std::size_t>(::sqlite3_column_bytes(row.get(), column))};
}

void append_value(std::string& text, const Statement& row, int column) {
    switch (::sqlite3_column_type(row.get(), column)) {
        case SQLITE_NULL:
            return;
        case SQLITE_FLOAT:
            return detail::append_floating(text, ::sqlite3_column_double(row.get(), column));
        case SQLITE_BLOB:
            for (const char c : bytes_of(row, column)) {
                fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned char>(c));
            }
            return;
        default:
            text += bytes_of(row, column);
    }
}

std::string quoted(std::string_view name) {
    std::string text = "\"";
    for (const char c : name) {
        text += c;
        if (c == '"') text += c;
    }
    return text + '"';
}

}  // namespace strid::sqlite
