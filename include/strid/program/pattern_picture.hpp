// SPDX-License-Identifier: Apache-2.0
//
// Pictures of a pattern, by the means of those of a graph (stream/drawing.hpp): to_text, to_dot,
// to_svg and draw take what these functions return. Pure functions, any thread.
//
//     draw(drawing_of(pattern::describe(thumbnails), "thumbnails"), "thumbnails.svg");
//     draw(drawing_of(pattern::run(thumbnails), "thumbnails"), "after.svg");
#pragma once

#include <string>

#include <strid/pattern/description.hpp>
#include <strid/pattern/pattern_report.hpp>
#include <strid/stream/drawing.hpp>

namespace strid {

/// The nodes of a pattern, replicas together, and the lanes between them with what bounds them.
[[nodiscard]] GraphDescription drawing_of(const pattern::NetworkDescription& network,
                                          std::string name);

/// The same with the figures of a run; while it runs also with how full the lanes are now.
[[nodiscard]] GraphDescription drawing_of(const pattern::Report& report, std::string name);

}  // namespace strid
