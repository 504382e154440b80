// SPDX-License-Identifier: Apache-2.0
//
// What can travel through a channel: a type whose objects can wait in a slot (hence the default)
// and be moved in and out without failing (hence an item is never half passed on).
#pragma once

#include <concepts>
#include <type_traits>

namespace strid::channel {

template <class T>
concept Channelable = std::default_initializable<T> && std::is_nothrow_move_assignable_v<T> &&
                      std::is_nothrow_destructible_v<T>;

}  // namespace strid::channel
