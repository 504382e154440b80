// SPDX-License-Identifier: Apache-2.0
//
// The messages of the output plugin pgoutput, protocol version 1, and what the replication protocol
// puts around them: reading bytes only, no connection. No length that the server sends is trusted.
// Threads: one at a time for each object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <strid/base/error.hpp>

namespace strid::postgres {

/// Bytes that are no whole message.
class MalformedMessage : public InputOutputError {
  public:
    using InputOutputError::InputOutputError;
};

/// A place in the log that the server writes ahead (WAL): bytes since its beginning.
using Lsn = std::uint64_t;
/// As the server shows it: `16/B374D848`.
[[nodiscard]] std::string text_of_lsn(Lsn lsn);
/// None: the text is no place.
[[nodiscard]] std::optional<Lsn> read_lsn(std::string_view text) noexcept;

/// A value of a row, as text.
struct ChangedValue {
    enum class Kind : std::uint8_t {
        null,
        unchanged,  ///< A long value that an update did not touch: the log does not have it.
        text
    };
    Kind kind = Kind::null;
    std::string_view text = {};  ///< Of the message that was read.
};

/// A message of the plugin. The members that a kind does not name have no meaning for it.
struct ChangeMessage {
    enum class Kind : std::uint8_t {
        begin,     ///< of a transaction: commit, time_us
        commit,    ///< its end: commit, end
        relation,  ///< describes a table, before the first of its changes
        insert,    ///< relation, row
        update,    ///< relation, row, old where has_old
        remove,    ///< relation, old
        truncate,  ///< truncated
        other      ///< nothing that counts here: types, origins
    };
    Kind kind = Kind::other;
    Lsn commit = 0;                             ///< The record that commits the transaction.
    Lsn end = 0;                                ///< Behind that record.
    std::int64_t time_us = 0;                   ///< When it was committed, since 1970.
    std::uint32_t relation = 0;                 ///< The number (oid) of the table.
    std::string schema = {};                    ///< Of a relation.
    std::string name = {};                      ///< Of a relation.
    std::vector<std::string> columns = {};      ///< Of a relation: those that are published.
    bool has_old = false;                       ///< The row as it was, or its key alone.
    std::vector<ChangedValue> old = {};         ///< Of as many values as the table has columns.
    std::vector<ChangedValue> row = {};         ///< The same of the new row.
    std::vector<std::uint32_t> truncated = {};  ///< The numbers of tables.

    /// Reads one; `bytes` are used for as long as the values are. Throws MalformedMessage.
    /// O(bytes).
    void read(std::string_view bytes);
};

/// A message of the replication protocol: it has bytes of the plugin, or is a sign of life.
struct ReplicationMessage {
    bool is_sign_of_life = false;
    Lsn sent_up_to = 0;           ///< Of a sign of life: all before this place was sent.
    std::string_view bytes = {};  ///< Else.
};
/// Throws MalformedMessage.
[[nodiscard]] ReplicationMessage read_replication_message(std::string_view bytes);

/// A status of the standby: all before `confirmed` may be forgotten. `time_us` since 1970.
[[nodiscard]] std::string status_message(Lsn confirmed, std::int64_t time_us);

}  // namespace strid::postgres
