// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table or a query that are asked for by key. Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/sql_table.hpp>

#include "connection.hpp"

namespace strid::postgres {

class KeyedRows final : public TransportTable {
  public:
    /// Throws GraphError.
    KeyedRows(TransportAddress address, TableQuery asked);
    void open() override;
    [[nodiscard]] std::optional<std::vector<std::string>> find(const std::string& key) override;

  private:
    const detail::RowsOptions rows_;
    const TableQuery asked_;
    const std::string address_;  // for messages
    Connection connection_;
};

}  // namespace strid::postgres
