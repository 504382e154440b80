// SPDX-License-Identifier: Apache-2.0
//
// Rows of CSV as messages: a row, or an object of JSON with the names of the columns, the field of
// a column as a key, and fields as headers. Part of the outputs of transports that send messages.
// One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
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
    /// Of a message: the name of a column, and the field.
    struct Header {
        std::string_view name;
        std::string_view value;
    };
    /// A message, until the call for it returns.
    struct Message {
        std::string_view payload;
        std::optional<std::string_view> key = {};  ///< None: the address names no column.
        std::span<const Header> headers = {};      ///< Those that have a value.
        bool is_tombstone = false;                 ///< It has no payload.
    };

    /// Takes the options `format` and `key` of an address, and for a transport that `has_headers`
    /// also `header` and `tombstones`, and a key of several columns. Throws GraphError.
    explicit MessageRows(TransportAddress& address, bool has_headers = false);
    /// Objects of JSON, without a key. `name` is for messages.
    explicit MessageRows(std::string name) : address_(std::move(name)), is_json_(true) {}
    /// The names of the columns; none: they are not known yet. Throws GraphError where one that the
    /// address names is none of them.
    void set_columns(const std::vector<std::string>& columns);
    /// Calls `send` for each row. Throws GraphError where names are needed and not known,
    /// InputOutputError for a row with another number of fields.
    void for_each(std::string_view rows, const std::function<void(const Message&)>& send);

  private:
    [[nodiscard]] std::size_t column(std::string_view option, std::string_view name) const;
    [[nodiscard]] Message message_of(std::string_view row, std::vector<CsvField>& fields);
    void append_row(const std::vector<CsvField>& fields);
    void append_object(std::vector<CsvField>& fields);
    void note_key(std::vector<CsvField>& fields);
    void note_headers(std::vector<CsvField>& fields);

    std::string address_;  // for messages
    std::vector<std::string> keys_;
    std::vector<std::string> header_names_;
    bool has_tombstones_ = false;
    bool is_json_ = false;
    std::vector<std::string> columns_;
    std::vector<std::size_t> key_columns_;
    std::vector<std::size_t> header_columns_;
    std::vector<bool> is_header_;  // by column
    std::optional<std::size_t> correction_column_;
    RowsOfText rows_;
    std::string payload_;
    std::string key_text_;
    std::vector<Header> headers_;
};

}  // namespace strid::detail
