// SPDX-License-Identifier: Apache-2.0
#include "live_stages.hpp"

namespace strid::tool {

template void build_live_windows<LargeTable>(Graph& graph, const WindowJob& job,
                                             window::SessionWindows windows);

}  // namespace strid::tool
