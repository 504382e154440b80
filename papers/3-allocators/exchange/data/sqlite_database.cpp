// SPDX-License-Identifier: Apache-2.0
#include "data/sqlite_database.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>

#include "data/schema.hpp"

namespace strid::exchange {

namespace {

constexpr int busy_wait_ms = 10'000;

class SqliteRow final : public Row {
  public:
    explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
    [[nodiscard]] std::int64_t integer(int column) const override {
        return sqlite3_column_int64(statement_, column);
    }
    [[nodiscard]] std::string_view text(int column) const override { return bytes(column); }
    [[nodiscard]] std::string_view bytes(int column) const override {
        const void* const data = sqlite3_column_blob(statement_, column);
        const int size = sqlite3_column_bytes(statement_, column);
        return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
    }

  private:
    sqlite3_stmt* statement_;
};

std::string error_text(int error) {
    return std::generic_category().message(error);
}

const char* synchronous(Sync sync) {
    switch (sync) {
        case Sync::full:
            return "PRAGMA synchronous=FULL";
        case Sync::normal:
            return "PRAGMA synchronous=NORMAL";
        case Sync::off:
            break;
    }
    return "PRAGMA synchronous=OFF";
}

}  // namespace

SqliteDatabase::SqliteDatabase(std::string path, Opening opening, Sync sync)
    : path_(std::move(path)) {
    try {
        if (opening == Opening::write) lock();
        struct stat status {};
        const bool is_there = ::stat(path_.c_str(), &status) == 0;
        if (!is_there && errno != ENOENT) fail(error_text(errno));
        if (!is_there && opening != Opening::write) fail(error_text(ENOENT));
        if (!is_there) make();
        if (is_there && status.st_size == 0) {
            fail("the file is empty: no journal, or all of it was cut off");
        }
        open(path_, SQLITE_OPEN_READWRITE);
        if (opening == Opening::read) {
            // A statement that only reads leaves the log as it is.
            sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        }
        if (opening == Opening::beside) return;
        check_integrity();
        execute("PRAGMA journal_mode=WAL");
        execute(synchronous(sync));
    } catch (...) {
        close();
        throw;
    }
}

SqliteDatabase::~SqliteDatabase() {
    close();
}

void SqliteDatabase::close() noexcept {
    for (sqlite3_stmt* const statement : statements_) sqlite3_finalize(statement);
    statements_.clear();
    sqlite3_close(std::exchange(handle_, nullptr));
    if (lock_ >= 0) ::close(std::exchange(lock_, -1));
}

void SqliteDatabase::lock() {
    const std::string file = path_ + ".lock";
    lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock_ < 0) throw InputOutputError(file + ": " + error_text(errno));
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
        fail(errno == EWOULDBLOCK ? "another data manager has this journal" : error_text(errno));
    }
}

// Whole or not at all.
void SqliteDatabase::make() {
    // A log without its file is what is left of a journal: never the log of a new one.
    for (const char* const end : {"-wal", "-journal"}) {
        if (::access((path_ + end).c_str(), F_OK) == 0) {
            fail(std::string("the file is missing, but its log is there: ") + path_ + end);
        }
    }
    const std::string made = path_ + ".new";
    std::error_code ignored;
    std::filesystem::remove(made, ignored);
    open(made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    create_tables(*this);
    sqlite3_close(std::exchange(handle_, nullptr));
    if (::rename(made.c_str(), path_.c_str()) != 0) fail(error_text(errno));
}

void SqliteDatabase::open(const std::string& path, int flags) {
    const int code = sqlite3_open_v2(path.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    if (handle_ == nullptr) throw std::bad_alloc();
    check(code);
    sqlite3_busy_timeout(handle_, busy_wait_ms);
}

void SqliteDatabase::check_integrity() {
    query("PRAGMA integrity_check(1)", [this](const Row& row) {
        if (row.text(0) != "ok") fail("the journal is damaged: " + std::string(row.text(0)));
    });
}

bool SqliteDatabase::is_empty() {
    bool is_empty = true;
    query("SELECT name FROM sqlite_master", [&is_empty](const Row&) { is_empty = false; });
    return is_empty;
}

void SqliteDatabase::execute(const std::string& sql) {
    check(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr));
}

void SqliteDatabase::query(const std::string& sql, const std::function<void(const Row&)>& take) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr));
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> owner(statement,
                                                                           &sqlite3_finalize);
    const SqliteRow row(statement);
    for (;;) {
        const int code = sqlite3_step(statement);
        if (code == SQLITE_DONE) return;
        if (code != SQLITE_ROW) check(code);
        take(row);
    }
}

void SqliteDatabase::prepare(unsigned number, const std::string& statement) {
    if (statements_.size() <= number) statements_.resize(number + 1, nullptr);
    check(sqlite3_prepare_v3(handle_, statement.c_str(), -1, SQLITE_PREPARE_PERSISTENT,
                             &statements_[number], nullptr));
}

void SqliteDatabase::run(unsigned number, std::span<const Value> values) {
    sqlite3_stmt* const statement = statements_[number];
    int at = 0;
    for (const Value& value : values) {
        ++at;
        if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
            check(sqlite3_bind_int64(statement, at, *integer));
        } else if (const auto* const text = std::get_if<std::string_view>(&value)) {
            check(sqlite3_bind_text(statement, at, text->data(), static_cast<int>(text->size()),
                                    SQLITE_STATIC));
        } else {
            const std::string_view bytes = std::get<Bytes>(value).bytes;
            check(sqlite3_bind_blob(statement, at, bytes.data(), static_cast<int>(bytes.size()),
                                    SQLITE_STATIC));
        }
    }
    const int code = sqlite3_step(statement);
    if (code != SQLITE_DONE) check(code);
    sqlite3_reset(statement);
}

void SqliteDatabase::check(int code) const {
    if (code == SQLITE_OK) return;
    fail(code == SQLITE_CORRUPT || code == SQLITE_NOTADB
             ? std::string("the journal is damaged: ") + sqlite3_errmsg(handle_)
             : std::string(sqlite3_errmsg(handle_)));
}

void SqliteDatabase::fail(std::string what) const {
    std::replace(what.begin(), what.end(), '\n', ' ');
    throw InputOutputError(path_ + ": " + what);
}

}  // namespace strid::exchange
