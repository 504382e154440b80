// SPDX-License-Identifier: Apache-2.0
#include "window_stages.hpp"

namespace strid::tool {

template void build_windows<SmallTable>(Graph& graph, const WindowJob& job,
                                        window::SessionWindows windows);

}  // namespace strid::tool
