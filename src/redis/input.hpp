// SPDX-License-Identifier: Apache-2.0
//
// The entries of a stream, each a line. Threads: one at a time.
//
// A request is XREAD behind the last entry that was taken, and XINFO: the description of the stream
// shows whether entries were cut off before they were read. The server answers when there are
// entries, or after some seconds; read() looks for the answer, and never waits for it for longer
// than it may. Invariant: entries come in the order of their ids, and none twice.
//
// A position is that of the last entry that was passed (stream_state.hpp). Where the place is
// within an entry, of several rows, a '>' stands in front of the id of that entry, which must come,
// and the count is of those before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_fields.hpp>
#include <strid/engine/connector/taken_rows.hpp>

#include "client.hpp"
#include "entry_text.hpp"
#include "stream_state.hpp"

namespace strid::redis {

class StreamInput final : public TransportInput {
  public:
    /// Throws GraphError, ConnectionLost and InputOutputError.
    explicit StreamInput(TransportAddress address);

    ByteReader::Result read(std::span<char> out, int wait_ms) override;
    [[nodiscard]] bool has_positions() const noexcept override { return true; }
    void passed(std::uint64_t bytes) override;
    [[nodiscard]] Position position(std::uint64_t bytes) override;
    [[nodiscard]] std::string_view lost() const noexcept override { return lost_; }
    void go_on_at(std::string_view position) override;

  private:
    /// Its options, which are taken.
    struct Part {
        explicit Part(TransportAddress& address);
        bool latest = false;
        EntryId behind = {};
        bool until_end = false;
        detail::MessageFields fields;
        EntryText text;
    };
    /// Of an entry.
    struct At {
        EntryId id = {};
        StreamPlace before = {};
    };

    void begin();
    void note_that_none_is_there();
    [[nodiscard]] StreamState ask_for_state();
    void check_is_there(const StreamState& stream) const;
    [[noreturn]] void fail_of_entries(const std::string& reason) const;
    void connect_again();
    void request();
    void fetch(int wait_ms);
    void take_all(int wait_ms);
    void take_answer(const ::redisReply& entries, const StreamState& stream);
    void set_count(const ::redisReply& entries);
    [[nodiscard]] EntryId id_of(const ::redisReply& entry) const;
    void check_none_was_missed(const ::redisReply* entries, const StreamState& stream);
    void note_end(const StreamState& stream);
    void take(const ::redisReply& entry);
    void append_row(std::string_view text, EntryId id);

    Part part_;
    const Place place_;
    Client client_;
    StreamPlace next_;               // behind the last entry that was taken
    std::optional<EntryId> within_;  // the next entry must have this id
    EntryId end_;                    // with until=end: the last one
    bool is_at_end_ = false;
    Reply entries_;              // of the request, whose other answer has not come
    std::size_t count_ = 0;      // entries that a request asks for
    std::int64_t until_ns_ = 0;  // the answers come by then
    detail::TakenRows<At> rows_;
    std::int64_t retry_at_ns_ = 0;
    std::string lost_;  // why; empty: it is connected
};

}  // namespace strid::redis
