// SPDX-License-Identifier: Apache-2.0
//
// Pictures of a graph with the figures of a run, as files. Functions without state; any thread.
#pragma once

#include <string>
#include <string_view>

#include <strid/stream/drawing.hpp>
#include <strid/stream/report.hpp>

namespace strid {

/// The graph with the figures of a run of it; without them where the report is of another graph.
[[nodiscard]] GraphDescription annotated(GraphDescription description, const RunReport& report);

/// A graph as the text of a file with this name: SVG, DOT or text, by the ending. Throws GraphError
/// for another ending, Error where `dot` is needed and is not there.
[[nodiscard]] std::string picture_of(const GraphDescription& description, std::string_view path);

/// Draws a graph into the file. Throws as picture_of(), and InputOutputError where the file cannot
/// be written.
void draw(const GraphDescription& description, const std::string& path);

}  // namespace strid
