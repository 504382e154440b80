// SPDX-License-Identifier: Apache-2.0
//
// Rows of CSV as messages: a row, or an object of JSON with the names of the columns, and the field
// of a column as a key. Part of the outputs of transports that send messages. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/csv_row.hpp>

namespace strid::detail {

/// Cuts rows of CSV that an output has been given. It keeps the memory of its copy.
class RowsOfText {
  public:
    /// A row without its newline, and its fields, which may be unescaped in place: the row is
    /// changed then.
    using Take = std::function<void(std::string_view row, std::vector<CsvField>& fields)>;
    /// Throws InputOutputError, which begins with the address, for text that is no CSV.
    void for_each(std::string_view rows, std::string_view address, const Take& take);

  private:
    std::string text_;
};

class MessageRows {
  public:
    /// A message, until the call for it returns.
    struct Message {
        std::string_view payload;
        std::optional<std::string_view> key = {};  ///< None: the address names no column.
    };

    /// Takes the options `format` and `key` of an address. Throws GraphError.
    explicit MessageRows(TransportAddress& address);
    /// Objects of JSON, without a key. `name` is for messages.
    explicit MessageRows(std::string name) : address_(std::move(name)), is_json_(true) {}
    /// The names of the columns; none: they are not known yet. Throws GraphError where the key is
    /// none of them.
    void set_columns(const std::vector<std::string>& columns);
    /// Calls `send` for each row. Throws GraphError where names are needed and not known,
    /// InputOutputError for a row with another number of fields.
    void for_each(std::string_view rows, const std::function<void(const Message&)>& send);

  private:
    void append_object(std::vector<CsvField>& fields);

    std::string address_;  // for messages
    std::string key_;
    bool is_json_ = false;
    std::vector<std::string> columns_;
    std::optional<std::size_t> key_column_;
    RowsOfText rows_;
    std::string payload_;
    std::string key_text_;
};

}  // namespace strid::detail
