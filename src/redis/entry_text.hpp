// SPDX-License-Identifier: Apache-2.0
//
// The fields of an entry as text: an object of JSON, a row of CSV, or the text in one of them. One
// thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/connector/transport.hpp>

#include "client.hpp"

namespace strid::redis {

class EntryText {
  public:
    /// Takes the options `field` and `columns` of an address. Throws GraphError.
    explicit EntryText(TransportAddress& address);
    /// The text of an entry with these names and values, in turn, until the next call; empty: it
    /// has no such field. O(size).
    [[nodiscard]] std::string_view of(const ::redisReply& fields);

  private:
    void append_object(const ::redisReply& fields);
    void append_row(const ::redisReply& fields);
    [[nodiscard]] const std::string& member(std::size_t number, std::string_view name);

    std::string field_;
    std::vector<std::string> columns_;
    /// Of the entry before: names, and as members of JSON up to the value. Entries of a stream
    /// mostly have the same.
    std::vector<std::pair<std::string, std::string>> members_;
    std::string text_;
};

}  // namespace strid::redis
