// SPDX-License-Identifier: Apache-2.0
//
// Fields about a message in its rows, such as its key or its topic: `with=key,offset` of an
// address. Part of the inputs of transports that receive messages. One thread.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/transport.hpp>

namespace strid::detail {

class MessageFields {
  public:
    /// The value of a field.
    struct Value {
        std::optional<std::string_view> text = {};  ///< None: an empty field, or null.
        bool is_number = false;
    };

    /// Takes the option `with` of an address, a list of these fields, and of those that begin with
    /// `header.` where the transport has headers. Throws GraphError for others, and for two of one
    /// name.
    MessageFields(TransportAddress& address, std::initializer_list<std::string_view> known,
                  bool has_headers = false);

    /// In the order of the values.
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
    /// Appends a message with the values: an object of JSON gets a member `@NAME` for each, a row
    /// of CSV a field for each, behind their own. The same for each row of a message of several; an
    /// object stands in one line. O(size).
    void append(std::string& out, std::string_view message, std::span<const Value> values);

  private:
    void append_objects(std::string& out, std::string_view message, std::span<const Value> values);
    void append_rows(std::string& out, std::string_view message, std::span<const Value> values);

    std::vector<std::string> names_;
    std::vector<std::string> members_;  // of JSON, up to the value
    std::string added_;
};

}  // namespace strid::detail
