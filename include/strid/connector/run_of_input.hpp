// SPDX-License-Identifier: Apache-2.0
//
// For a transport (transport.hpp) whose server must be sent how far a run has come: the run that
// opens its input has results (RunScope::Result), which hear when a snapshot is stored.
#pragma once

#include <strid/operator/run_scope.hpp>

namespace strid {

/// The run whose source opens an input, while Transport::input is called by it; it outlives the
/// input. Null: no run does.
[[nodiscard]] RunScope* run_of_input() noexcept;

}  // namespace strid
