// SPDX-License-Identifier: Apache-2.0
//
// A table that rows are inserted into, or whose rows they replace. Threads: one at a time, but for
// interrupt().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_rows.hpp>
#include <strid/engine/connector/sql_table.hpp>

#include "database.hpp"

namespace strid::sqlite {

class InsertOutput final : public TransportOutput {
  public:
    /// Throws GraphError.
    explicit InsertOutput(TransportAddress address);

    void open(const std::vector<std::string>& columns) override;
    void write(std::string_view rows) override;
    void commit() override;
    void commit(const Epoch& epoch) override;
    [[nodiscard]] std::uint64_t last_epoch(std::string_view stream) override;
    void close() noexcept override;
    void interrupt() noexcept override { database_.interrupt(); }

  private:
    void begin();
    void insert(std::vector<CsvField>& fields);

    const detail::TableOptions table_;
    const std::string address_;  // for messages
    Database database_;
    Statement insert_;
    std::size_t columns_ = 0;  // of a row
    bool has_begun_ = false;   // a transaction
    detail::RowsOfText rows_;
};

}  // namespace strid::sqlite
