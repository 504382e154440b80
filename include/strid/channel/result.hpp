// SPDX-License-Identifier: Apache-2.0
//
// The results of an operation on a queue or a ring. A refusal is a value that the caller must
// check, never an exception: the caller decides what back-pressure, idleness and the end of a
// stream mean.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strid::channel {

/// The result of a push. Unless it is `ok`, the value is untouched.
enum class [[nodiscard]] PushResult : std::uint8_t {
    ok,     ///< the value is in the queue
    full,   ///< no room now; there is room when a consumer takes something
    closed  ///< this producer has closed, or no consumer is left: there will never be room
};

/// The result of a pop. Unless it is `ok`, the destination is untouched.
enum class [[nodiscard]] PopResult : std::uint8_t {
    ok,     ///< an item was taken
    empty,  ///< nothing now; a producer may still push something
    closed  ///< every producer has closed and all their items were taken
};

/// The result of an operation on several items.
template <class Result>
struct [[nodiscard]] Several {
    std::size_t count;  ///< items that were passed
    Result result;      ///< `ok`, or the reason why there are no more
};

}  // namespace strid::channel
