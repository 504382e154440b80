// SPDX-License-Identifier: Apache-2.0
//
// The link between the core and the session manager: the messages of clients, each with the fields
// below, and two messages of its own. FIX leaves tags from 5000 on to the user; the core takes
// these out of what clients send.
#pragma once

#include <string_view>

namespace strid::exchange {

struct CoreTag {
    enum : int {
        connection = 5001,    ///< which connection of the core
        fault_reason = 5002,  ///< of a field that was wrong and is left out: SessionRejectReason
        fault_tag = 5003,
        fault_text = 5004
    };
};

/// Core to session manager: the connection is gone.
inline constexpr std::string_view connection_closed = "UC";
/// Session manager to core: close it when all that was sent to it is written; 58 is for the log.
inline constexpr std::string_view close_connection = "UX";

}  // namespace strid::exchange
