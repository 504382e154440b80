// SPDX-License-Identifier: Apache-2.0
#include "stream_state.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace strid::redis {

namespace {

std::uint64_t number_of(const ::redisReply& list, std::string_view name) {
    const ::redisReply* const found = find(list, name);
    return found == nullptr ? 0 : static_cast<std::uint64_t>(found->integer);
}

EntryId id_of(const ::redisReply& list, std::string_view name) {
    const ::redisReply* const found = find(list, name);
    return found == nullptr ? EntryId{} : read_entry_id(text_of(*found)).value_or(EntryId{});
}

EntryId id_of_entry(const ::redisReply& list, std::string_view name) {
    const ::redisReply* const found = find(list, name);
    if (found == nullptr || found->elements == 0) return {};
    return read_entry_id(text_of(*found->element[0])).value_or(EntryId{});
}

}  // namespace

StreamState stream_state(const Client& client, const ::redisReply& reply) {
    if (reply.type == REDIS_REPLY_ERROR && text_of(reply) == "ERR no such key") return {};
    client.check(reply);
    return {.exists = true,
            .entries = number_of(reply, "length"),
            .added = number_of(reply, "entries-added"),
            .first = id_of_entry(reply, "first-entry"),
            .end = id_of_entry(reply, "last-entry"),
            .last = id_of(reply, "last-generated-id"),
            .deleted = id_of(reply, "max-deleted-entry-id")};
}

std::optional<std::uint64_t> entries_gone(const StreamPlace& place, const StreamState& stream) {
    const bool is_before = stream.entries != 0 && stream.first <= place.behind;
    if (is_before || stream.last <= place.behind) return 0;
    if (!place.added || *place.added + stream.entries > stream.added) return std::nullopt;
    return stream.added - *place.added - stream.entries;
}

StreamPlace start_behind(EntryId id, const StreamState& stream) {
    StreamPlace place{.behind = id, .added = std::nullopt};
    if (id >= stream.last || stream.entries == 0) {
        place.added = stream.added;
    } else if (id < stream.first && stream.deleted < stream.first) {
        place.added = stream.added - stream.entries;
    }
    return place;
}

std::string text_of_place(const StreamPlace& place) {
    return fmt::format("{}{} {}", place.is_start ? "@" : "", place.behind.text(),
                       place.added ? std::to_string(*place.added) : "-");
}

std::optional<StreamPlace> read_stream_place(std::string_view text) {
    StreamPlace place{.is_start = text.starts_with('@')};
    text.remove_prefix(place.is_start ? 1 : 0);
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::optional<EntryId> behind = read_entry_id(text.substr(0, blank));
    if (!behind || blank == text.size()) return std::nullopt;
    place.behind = *behind;
    text.remove_prefix(blank + 1);
    if (text == "-") {
        place.added = std::nullopt;
        return place;
    }
    std::uint64_t added = 0;
    if (!read_number(text, added)) return std::nullopt;
    place.added = added;
    return place;
}

}  // namespace strid::redis
