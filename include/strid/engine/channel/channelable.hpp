// SPDX-License-Identifier: Apache-2.0
//
// The types that can pass through a channel: their objects can wait in a slot (so they have a
// default) and can be moved in and out without failing (so an item is never half passed on).
#pragma once

#include <concepts>
#include <type_traits>

namespace strid::channel {

template <class T>
concept Channelable = std::default_initializable<T> && std::is_nothrow_move_assignable_v<T> &&
                      std::is_nothrow_destructible_v<T>;

}  // namespace strid::channel
