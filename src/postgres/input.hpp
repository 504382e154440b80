// SPDX-License-Identifier: Apache-2.0
//
// The rows of a query, as the CSV that COPY gives. Threads: one at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/sql_table.hpp>

#include "connection.hpp"

namespace strid::postgres {

class QueryInput final : public TransportInput {
  public:
    /// Throws GraphError, ConnectionLost and InputOutputError.
    explicit QueryInput(TransportAddress address);
    ByteReader::Result read(std::span<char> out, int wait_ms) override;

  private:
    struct FreesRow {
        void operator()(char* row) const noexcept { ::PQfreemem(row); }
    };
    [[nodiscard]] bool begins(int wait_ms);
    [[nodiscard]] bool wait(int wait_ms);

    detail::RowsOptions rows_;
    Connection connection_;
    std::unique_ptr<char, FreesRow> row_;
    std::string_view left_;   // of the row
    bool has_begun_ = false;  // the server has computed the first rows
    bool has_ended_ = false;
};

}  // namespace strid::postgres
