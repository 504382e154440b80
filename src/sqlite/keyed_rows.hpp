// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table or a query that are asked for by key. Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <strid/connector/transport.hpp>

#include "database.hpp"

namespace strid::sqlite {

class KeyedRows final : public TransportTable {
  public:
    /// Throws GraphError.
    KeyedRows(TransportAddress address, const TableQuery& asked);
    void open() override;
    [[nodiscard]] std::optional<std::vector<std::string>> find(const std::string& key) override;

  private:
    const std::string address_;  // for messages
    const std::string query_;
    Database database_;
    Statement rows_;  // ends before the database is closed
};

}  // namespace strid::sqlite
