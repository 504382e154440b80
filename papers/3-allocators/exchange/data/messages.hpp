// SPDX-License-Identifier: Apache-2.0
//
// Between FIX messages and the types of the matching engine. Functions without state; any thread.
#pragma once

#include "fix/message.hpp"
#include "matching/command.hpp"
#include "matching/report.hpp"

namespace strid::exchange {

/// The command in an application message of the link. A field that is missing is empty. Throws
/// fix::FieldError where the number (34) or the user (49) is missing, or the number wrong: the
/// link is broken then, whatever the user sent.
[[nodiscard]] Command read_command(const fix::Message& message);

/// The reports of a command as messages, in order, without a number (34). Executions get the
/// identifiers `COMMAND-1`, `COMMAND-2`, ...
[[nodiscard]] std::vector<fix::Message> report_messages(const Command& command,
                                                        const Outcome& outcome);

}  // namespace strid::exchange
