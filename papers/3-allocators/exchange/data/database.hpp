// SPDX-License-Identifier: Apache-2.0
//
// The interface of a database for a journal: transactions of prepared statements, and queries.
// SQLite (sqlite_database.hpp) and PostgreSQL (postgres_database.hpp) are such. One thread at a
// time; each thread has one of its own.
//
// Invariant: after the process was killed at any moment, each transaction is there wholly or not at
// all, and a committed one is there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace strid::exchange {

/// The event that a commit waits for.
enum class Sync : std::uint8_t {
    full,    ///< the disk: survives the loss of power
    normal,  ///< the disk from time to time: survives a process that is killed
    off      ///< nothing: survives a process that is killed, on a system that goes on
};

/// Bytes as they are.
struct Bytes {
    std::string_view bytes;
};
using Value = std::variant<std::int64_t, std::string_view, Bytes>;

/// A row of a query's result; valid during the call that it is given to.
class Row {
  public:
    virtual ~Row() = default;
    [[nodiscard]] virtual std::int64_t integer(int column) const = 0;
    [[nodiscard]] virtual std::string_view text(int column) const = 0;
    [[nodiscard]] virtual std::string_view bytes(int column) const = 0;
};

class Database {
  public:
    virtual ~Database() = default;
    Database() = default;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// As the user named it, without a password.
    [[nodiscard]] virtual const std::string& name() const noexcept = 0;
    /// The names of the types in CREATE TABLE.
    [[nodiscard]] virtual std::string_view integer_type() const noexcept = 0;
    [[nodiscard]] virtual std::string_view bytes_type() const noexcept = 0;
    /// Everything below throws InputOutputError with the name of the database.
    virtual void execute(const std::string& sql) = 0;
    /// Whether there are tables.
    [[nodiscard]] virtual bool is_empty() = 0;
    /// Rows in order; `sql` has no parameters.
    virtual void query(const std::string& sql, const std::function<void(const Row&)>& take) = 0;
    /// Makes `statement`, of parameters $1, $2, ... in their order, known by its number.
    virtual void prepare(unsigned number, const std::string& statement) = 0;
    /// Queries up to the end of it see one moment.
    virtual void begin_reading() = 0;
    virtual void end_reading() { execute("COMMIT"); }
    virtual void begin() = 0;
    /// Inside a transaction. May be carried out as late as in commit().
    virtual void run(unsigned number, std::span<const Value> values) = 0;
    virtual void commit() = 0;
};

/// How a journal is opened.
enum class Opening : std::uint8_t {
    write,  ///< by the data manager: made where it is not there, and no other process may write
    read,   ///< it has to be there
    beside  ///< by the process that has it open for writing, too: nothing is checked
};

/// `journal` is the path of a file or a URI postgresql://. Throws InputOutputError where it cannot
/// be opened, another data manager has it, or it is damaged.
[[nodiscard]] std::unique_ptr<Database> open_database(const std::string& journal, Opening opening,
                                                      Sync sync);

}  // namespace strid::exchange
