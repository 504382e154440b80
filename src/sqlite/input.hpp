// SPDX-License-Identifier: Apache-2.0
//
// The rows of a query as CSV. Threads: one at a time.
#pragma once

#include <string>

#include <strid/connector/transport.hpp>

#include "database.hpp"

namespace strid::sqlite {

class QueryInput final : public TransportInput {
  public:
    /// Throws GraphError and InputOutputError.
    explicit QueryInput(TransportAddress address);
    ByteReader::Result read(std::span<char> out, int wait_ms) override;

  private:
    void append_row();
    void append_value(int column);

    std::string query_;
    Database database_;
    Statement rows_;         // null: they have ended
    std::string text_;       // rows, and the header in front
    std::size_t given_ = 0;  // bytes of it
};

}  // namespace strid::sqlite
