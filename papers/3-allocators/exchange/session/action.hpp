// SPDX-License-Identifier: Apache-2.0
//
// The events and the actions of the session of a user. Plain values that go through the graph of
// the session manager; messages are shared, not copied.
//
// Invariant: an action carries the sequence numbers that its user has when it is done. The ledger
// stores an action together with them in one transaction, and sends its messages only when that is
// durable.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "fix/decoder.hpp"
#include "fix/message.hpp"

namespace strid::exchange {

/// The client's connection in the core, and which link to a core it came by; 0: none.
using ConnectionId = std::uint64_t;

struct Event {
    enum class Kind : std::uint8_t {
        message,  ///< of the client
        closed,   ///< the connection is gone
        written,  ///< a part of a resend was written to the client; it goes on at `next`
        report    ///< of the data manager
    };
    Kind kind = Kind::message;
    std::string user = {};
    ConnectionId connection = 0;
    std::shared_ptr<const fix::Message> message = {};
    /// A field of the message that is wrong; null: none.
    std::shared_ptr<const fix::FieldFault> fault = {};
    std::int64_t report = 0;  ///< its number on the link
    std::int64_t next = 0;
};

struct Action {
    enum class Kind : std::uint8_t {
        state,    ///< nothing but the numbers
        send,     ///< `message` to the user, as number `sequence`
        command,  ///< `message` to the data manager
        resend,  ///< the messages `sequence` to `until`, or the first of them, and `output_written`
        reset,   ///< forget the messages that were sent: the numbers begin anew
        close    ///< end the connection when all was written; `reason` is for the log
    };
    Kind kind = Kind::state;
    bool kept = false;   ///< of `send`: for a resend; others are gaps there
    bool held = false;   ///< of `send`: not now, for a resend brings it in its turn
    bool fresh = false;  ///< of `resend`: the messages were not sent before
    std::string user = {};
    ConnectionId connection = 0;
    std::shared_ptr<const fix::Message> message = {};
    std::int64_t sequence = 0;
    std::int64_t until = 0;
    std::int64_t report = 0;  ///< of the data manager, which is done with this action; 0: none
    std::int64_t next_incoming = 0;
    std::int64_t next_outgoing = 0;
    std::string reason = {};
    /// Of `resend`: messages that are not kept, by number.
    std::map<std::int64_t, std::shared_ptr<const fix::Message>> unkept = {};
};

/// The state of a user without a session.
struct SequenceNumbers {
    std::int64_t next_incoming = 1;
    std::int64_t next_outgoing = 1;

    bool operator==(const SequenceNumbers&) const = default;
};

}  // namespace strid::exchange
