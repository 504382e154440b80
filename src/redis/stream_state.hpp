// SPDX-License-Identifier: Apache-2.0
//
// A stream as the server describes it, a place in it, and whether entries behind the place are
// gone. The server counts the entries that were ever added: those behind a place whose count is
// known either are in the stream or are gone. Entries are cut off at the front of a stream, so none
// is gone where one at the place, or before it, is still there. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client.hpp"
#include "entry_id.hpp"

namespace strid::redis {

/// A stream, as it was when the server was asked.
struct StreamState {
    bool exists = false;
    std::uint64_t entries = 0;
    std::uint64_t added = 0;  ///< Entries that were ever added.
    EntryId first = {};       ///< Of the first entry; of none: 0-0, as the next one.
    EntryId end = {};         ///< Of the last entry.
    EntryId last = {};        ///< The greatest id that an entry ever had.
    EntryId deleted = {};     ///< The greatest one of those that XDEL has deleted; 0-0: of none.
};

/// Of the reply to XINFO STREAM, an error too. Throws as Client::check() where it is another error
/// than that there is no such key.
[[nodiscard]] StreamState stream_state(const Client& client, const ::redisReply& reply);

/// A place in a stream: behind an entry.
struct StreamPlace {
    EntryId behind = {};
    /// Entries that were added up to it; none: it is not known.
    std::optional<std::uint64_t> added = 0;
    /// No entry has been read: the id is one to begin behind.
    bool is_start = true;
};

/// How many entries behind the place are gone; none: it is not known.
[[nodiscard]] std::optional<std::uint64_t> entries_gone(const StreamPlace& place,
                                                        const StreamState& stream);

/// The place where a stream, as it is now, is read from behind `id`. Entries that are gone by now
/// are not counted as missing.
[[nodiscard]] StreamPlace start_behind(EntryId id, const StreamState& stream);

/// `ID ADDED`, `@ID ADDED` for a start; ADDED is - where it is not known.
[[nodiscard]] std::string text_of_place(const StreamPlace& place);
[[nodiscard]] std::optional<StreamPlace> read_stream_place(std::string_view text);

}  // namespace strid::redis
