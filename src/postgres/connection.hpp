// SPDX-License-Identifier: Apache-2.0
//
// A connection to a PostgreSQL server, by libpq. Threads: one at a time, but for interrupt().
#pragma once

#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <libpq-fe.h>

#include <strid/connector/transport.hpp>

namespace strid::postgres {

struct EndsConnection {
    void operator()(::PGconn* connection) const noexcept { ::PQfinish(connection); }
};
struct ClearsResult {
    void operator()(::PGresult* result) const noexcept { ::PQclear(result); }
};
using Result = std::unique_ptr<::PGresult, ClearsResult>;

/// The place of a server, of an address whose own options were taken.
class Connection {
  public:
    /// Names and values of libpq.
    using Options = std::vector<std::pair<std::string_view, std::string_view>>;
    /// Connects to nothing. `defaults`: options, where the address has no others.
    explicit Connection(const TransportAddress& address, const Options& defaults = {});
    /// For a connection that reads for long: the kernel notices a server whose machine is gone,
    /// which may as well be silent because it computes.
    [[nodiscard]] static Options of_reader(Options others = {});
    ~Connection() { close(); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Throws ConnectionLost where the server cannot be reached; the first time InputOutputError
    /// where it refuses.
    void open();
    void close() noexcept;
    [[nodiscard]] bool is_open() const noexcept { return connection_ != nullptr; }
    /// The socket is shut down: a call that waits for it ends. Any thread.
    void interrupt() noexcept;
    /// The same of this connection only: open() makes another one.
    void cut() noexcept;

    /// Sends a command, and expects `status`. Throws ConnectionLost and InputOutputError.
    Result run(const std::string& command, ::ExecStatusType status);
    /// The same with parameters, for a command that has them as $1, $2.
    Result run(const std::string& command, std::initializer_list<const char*> parameters,
               ::ExecStatusType status);
    /// The result of a command that was sent, and of all up to its end.
    void expect_end();
    /// A name of the server in quotes.
    [[nodiscard]] std::string quoted(std::string_view name);
    /// Throws what the connection says, or a result where there is one.
    [[noreturn]] void fail(const ::PGresult* result = nullptr);
    /// Of libpq.
    [[nodiscard]] ::PGconn* get() const noexcept { return connection_.get(); }

  private:
    const std::string address_;  // for messages
    const std::string place_;    // for libpq
    std::unique_ptr<::PGconn, EndsConnection> connection_;
    bool has_been_open_ = false;
    std::mutex mutex_;
    int socket_ = -1;              // under mutex_
    bool is_interrupted_ = false;  // under mutex_
};

/// The name of a table, which may have a schema in front, in quotes.
[[nodiscard]] std::string quoted_table(Connection& connection, std::string_view table);

}  // namespace strid::postgres
