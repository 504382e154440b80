// SPDX-License-Identifier: Apache-2.0
#include "window_stages.hpp"

namespace strid::tool {

void build_time_windows(Graph& graph, const WindowJob& job, window::TimeWindows windows) {
    build_timed(graph, job, windows);
}

}  // namespace strid::tool
