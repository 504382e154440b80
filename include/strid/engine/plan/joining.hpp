// SPDX-License-Identifier: Apache-2.0
//
// Declares the functions that join streams: join_streams.hpp and as_of_streams.hpp define them.
#pragma once

#include <strid/window/join_options.hpp>

namespace strid::graph {

template <class Left, class Right, class Keys, class Bound, class F, class Way>
auto join_streams(Left&& left, Right&& right, Keys keys, const Bound& bound, F pair, Way way,
                  const JoinOptions& options);
template <class Left, class Right, class Keys, class F, class Way>
auto as_of_streams(Left&& left, Right&& right, Keys keys, F pair, Way way,
                   const AsOfOptions& options);

}  // namespace strid::graph
