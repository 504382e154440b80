// SPDX-License-Identifier: Apache-2.0
//
// A connection to a database of SQLite and its statements. Threads: one at a time, but for
// interrupt().
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>

#include <strid/connector/transport.hpp>

namespace strid::sqlite {

struct EndsStatement {
    void operator()(::sqlite3_stmt* statement) const noexcept { ::sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<::sqlite3_stmt, EndsStatement>;

/// Device and inode.
using FileNumber = std::pair<std::uint64_t, std::uint64_t>;

class Database {
  public:
    enum class Use : std::uint8_t { reads, writes };

    /// Opens nothing.
    Database(const TransportAddress& address, Use use);
    ~Database() { close(); }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Throws InputOutputError.
    void open();
    /// All statements are gone by then.
    void close() noexcept;
    /// A statement that runs ends with an error. Any thread.
    void interrupt() noexcept;
    /// Throws InputOutputError, ConnectionLost where the file is locked.
    [[nodiscard]] Statement prepare(std::string_view sql);
    /// True: there is a row. Throws as prepare().
    bool step(const Statement& statement);
    /// A statement without rows. Throws as prepare().
    void run(std::string_view sql);
    /// Rows that the last statement has changed.
    [[nodiscard]] int changes() const noexcept { return ::sqlite3_changes(connection_); }
    [[noreturn]] void fail(int code);

  private:
    void check_use();

    const std::string address_;  // for messages
    const std::string path_;
    const Use use_;
    std::mutex mutex_;  // of the pointer, which interrupt() reads
    ::sqlite3* connection_ = nullptr;
    bool is_interrupted_ = false;     // under mutex_
    std::optional<FileNumber> used_;  // the file, among those of the process
};

/// A value of the row at hand as text; of a blob its bytes.
[[nodiscard]] std::string_view bytes_of(const Statement& row, int column);
/// Appends a value as text: a number as CSV has it, a blob as hexadecimal digits, NULL as nothing.
void append_value(std::string& text, const Statement& row, int column);

/// A name in quotes.
[[nodiscard]] std::string quoted(std::string_view name);

}  // namespace strid::sqlite
