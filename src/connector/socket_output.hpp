// SPDX-License-Identifier: Apache-2.0
//
// Rows that go to sockets: to a server that is connected to (tcp:, tls:, unix:), or to the clients
// of one that listens (tcp-listen:, unix-listen:). They go out as they come, as into a pipe; each
// connection begins with the header of CSV. Private to the connector room.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/row_output.hpp>
#include <strid/engine/connector/message_rows.hpp>

#include "socket_place.hpp"

namespace strid::detail {

/// Whether rows that are written there go to a socket.
[[nodiscard]] bool is_socket_output(std::string_view name) noexcept;

/// The other ends. Threads: one at a time.
class SocketRows {
  public:
    SocketRows() = default;
    SocketRows(const SocketRows&) = delete;
    SocketRows& operator=(const SocketRows&) = delete;
    virtual ~SocketRows() = default;

    /// Before the first write(): each connection begins with this line; empty: with a row.
    virtual void set_header(const std::string& header) = 0;
    /// Sends whole rows, or keeps them until they can be sent. Throws InputOutputError, and
    /// Interrupted where the run is cut short meanwhile.
    virtual void write(std::string_view rows) = 0;
    /// Nothing follows: sends what is kept, and closes. Throws as write().
    virtual void end() = 0;
    /// A snapshot counts the rows so far as written: waits until the system has those that a kill
    /// must not lose. Throws as write().
    virtual void flush() = 0;
    /// In place of end(), where the run ends early: sends what is kept, for a short time.
    virtual void let_go() noexcept = 0;
};

/// Connects. `run`: null outside of one. Throws InputOutputError.
[[nodiscard]] std::unique_ptr<SocketRows> connect_rows(const SocketOutputPlace& place,
                                                       RunScope* run);
/// Listens. Throws InputOutputError.
[[nodiscard]] std::unique_ptr<SocketRows> listen_for_readers(const SocketOutputPlace& place,
                                                             RunScope* run);

class SocketOutput final : public RowOutput {
  public:
    /// Opens nothing yet. Throws GraphError.
    SocketOutput(const std::string& address, RowFormat format);

    void commit() override {}
    void discard() noexcept override;

    [[nodiscard]] bool may_block() const noexcept override { return true; }
    [[nodiscard]] std::vector<FileUse> uses() const override { return {}; }

  private:
    void begin() override;
    [[nodiscard]] bool is_open() const noexcept override { return rows_ != nullptr; }
    void write(std::string_view rows) override;
    void cut(std::uint64_t /*snapshot*/) override { rows_->flush(); }
    void end() override;
    void let_go() noexcept override;
    void take_header();

    const SocketOutputPlace place_;
    // Under mutex_:
    std::unique_ptr<SocketRows> rows_;      // while it is open
    std::unique_ptr<MessageRows> objects_;  // of JSON; null: rows are CSV
    std::string text_;
};

}  // namespace strid::detail
