// SPDX-License-Identifier: Apache-2.0
//
// A journal in a file of SQLite, with a write-ahead log beside it (FILE-wal, FILE-shm), and a file
// that is locked while a data manager runs (FILE.lock).
//
// Invariant: FILE is made whole under another name and renamed, so an empty file was cut, and is
// refused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/database.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace strid::exchange {

class SqliteDatabase final : public Database {
  public:
    SqliteDatabase(std::string path, Opening opening, Sync sync);
    ~SqliteDatabase() override;

    [[nodiscard]] const std::string& name() const noexcept override { return path_; }
    [[nodiscard]] std::string_view integer_type() const noexcept override { return "INTEGER"; }
    [[nodiscard]] std::string_view bytes_type() const noexcept override { return "BLOB"; }
    [[nodiscard]] bool is_empty() override;
    void execute(const std::string& sql) override;
    void query(const std::string& sql, const std::function<void(const Row&)>& take) override;
    void prepare(unsigned number, const std::string& statement) override;
    void begin_reading() override { execute("BEGIN"); }
    void begin() override { execute("BEGIN IMMEDIATE"); }
    void run(unsigned number, std::span<const Value> values) override;
    void commit() override { execute("COMMIT"); }

  private:
    void lock();
    void make();
    void open(const std::string& path, int flags);
    void close() noexcept;
    void check_integrity();
    void check(int code) const;
    [[noreturn]] void fail(std::string what) const;

    std::string path_;
    int lock_ = -1;
    sqlite3* handle_ = nullptr;
    std::vector<sqlite3_stmt*> statements_;
};

}  // namespace strid::exchange
