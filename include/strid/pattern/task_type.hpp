// SPDX-License-Identifier: Apache-2.0
//
// The types of tasks of patterns.
#pragma once

#include <concepts>
#include <type_traits>

namespace strid::pattern {

/// A task of a pattern: a value that can wait in a slot and be moved without failing. Put other
/// types into a std::unique_ptr.
template <class T>
concept TaskType = std::default_initializable<T> && std::is_nothrow_move_assignable_v<T> &&
                   std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>;

/// The task type before the first node of a pattern and after the last.
struct Nothing {};

}  // namespace strid::pattern
