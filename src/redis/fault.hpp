// SPDX-License-Identifier: Apache-2.0
//
// Errors that a server replies with, as one sentence each. A pure function.
#pragma once

#include <string_view>

#include "place.hpp"

namespace strid::redis {

/// Throws ConnectionLost for what may pass, InputOutputError for what does not. `error`: as the
/// server has sent it, which begins with a word in capitals.
[[noreturn]] void fail_of_reply(const Place& place, std::string_view error);

}  // namespace strid::redis
