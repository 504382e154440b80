// SPDX-License-Identifier: Apache-2.0
//
// The link between the core and the session manager: the messages of clients, each with the fields
// below, and two messages of its own. FIX leaves tags from 5000 on to the user; the core takes
// these out of what clients send.
#pragma once

#include <array>
#include <string_view>

namespace strid::exchange {

struct CoreTag {
    enum : int {
        connection = 5001,    ///< which connection of the core
        fault_reason = 5002,  ///< of a field that was wrong and is left out: SessionRejectReason
        fault_tag = 5003,
        fault_text = 5004,
        next = 5005  ///< of `output_written`: where a resend goes on
    };
};

/// No client's: what it sends under them is taken out.
inline constexpr std::array core_tags{int{CoreTag::connection}, int{CoreTag::fault_reason},
                                      int{CoreTag::fault_tag}, int{CoreTag::fault_text},
                                      int{CoreTag::next}};

/// Core to session manager: the connection is gone.
inline constexpr std::string_view connection_closed = "UC";
/// Session manager to core: close it when all that was sent to it is written; 58 is for the log.
inline constexpr std::string_view close_connection = "UX";
/// Session manager to core and, as it is, back: when all that was sent to the client before it is
/// written to its socket.
inline constexpr std::string_view output_written = "UR";

}  // namespace strid::exchange
