// SPDX-License-Identifier: Apache-2.0
//
// A table that rows are copied into, or whose rows they replace. Threads: one at a time, but for
// interrupt().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/sql_table.hpp>

#include "connection.hpp"

namespace strid::postgres {

class CopyOutput final : public TransportOutput {
  public:
    /// Throws GraphError.
    explicit CopyOutput(TransportAddress address);

    void open(const std::vector<std::string>& columns) override;
    void write(std::string_view rows) override;
    void commit() override;
    void commit(const Epoch& epoch) override;
    [[nodiscard]] std::uint64_t last_epoch(std::string_view stream) override;
    void close() noexcept override { connection_.close(); }
    void interrupt() noexcept override { connection_.interrupt(); }

  private:
    void begin();
    void begin_copy();
    void end_copy();
    void make_epochs();
    [[nodiscard]] std::string list(const std::vector<std::string>& columns);

    const detail::TableOptions table_;
    const std::string address_;  // for messages
    Connection connection_;
    // From open() on:
    std::vector<std::string> columns_;
    std::string target_;  // the table's name, in quotes
    bool has_epochs_ = false;
    // Of a transaction:
    bool has_begun_ = false;
    bool is_copying_ = false;
};

}  // namespace strid::postgres
