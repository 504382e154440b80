// SPDX-License-Identifier: Apache-2.0
//
// What a channel answers. Refusal is a value that the caller must look at, never an exception and
// never a wait: back-pressure, idleness and the end of a stream are the caller's next decision.
#pragma once

#include <cstdint>

namespace strid::channel {

/// The answer to a push. On anything but `ok` the value offered is untouched.
enum class [[nodiscard]] PushResult : std::uint8_t {
    ok,
    full,   ///< no room now; room comes when a consumer takes something
    closed  ///< this producer has closed its side: never again
};

/// The answer to a pop. On anything but `ok` the destination is untouched.
enum class [[nodiscard]] PopResult : std::uint8_t {
    ok,
    empty,  ///< nothing now; a producer may still bring something
    closed  ///< every producer has closed and everything they brought was taken
};

/// The answer of an arbiter's step, for the one thread that drives it.
enum class [[nodiscard]] ArbiterResult : std::uint8_t {
    progressed,  ///< something was handed on: step again
    empty,       ///< the producers have brought nothing new
    full,        ///< the consumers have no room; what waits stays in its lane
    closed       ///< all handed on and the consumers' side is closed: never step again
};

}  // namespace strid::channel
