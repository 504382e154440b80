// SPDX-License-Identifier: Apache-2.0
#include "window_stages.hpp"

namespace strid::tool {

void build_sessions(Graph& graph, const WindowJob& job, window::SessionWindows windows) {
    build_timed(graph, job, windows);
}

}  // namespace strid::tool
