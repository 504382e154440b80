// SPDX-License-Identifier: Apache-2.0
//
// The picture in the DOT language. A segment is a rounded cluster whose nodes are its operators, in
// the order of the stream; the tint of a cluster says how busy it was, the width of an edge how
// many records it carried, its colour how full its ring was. A bar says where the latency comes
// from that a segment adds, and one in the heading that of the whole way.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <strid/stream/drawing.hpp>

#include "drawing_format.hpp"

namespace strid {

namespace {

using Description = GraphDescription;

constexpr const char* ink = "#1f2933";
constexpr const char* pale_ink = "#6b7785";

// Text inside an HTML-like label.
std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '&':
                safe += "&amp;";
                break;
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '"':
                safe += "&quot;";
                break;
            case '\n':
                safe += ' ';
                break;
            default:
                safe += c;
        }
    }
    return safe;
}

struct Colour {
    double red, green, blue;
};

// A point on the way from one colour to another.
std::string blend(Colour from, Colour to, double way) {
    way = std::clamp(way, 0.0, 1.0);
    const auto part = [&](double a, double b) { return static_cast<int>(a + (b - a) * way + 0.5); };
    return fmt::format("#{:02x}{:02x}{:02x}", part(from.red, to.red), part(from.green, to.green),
                       part(from.blue, to.blue));
}

constexpr Colour idle_tint{240, 244, 248}, busy_tint{255, 214, 153};
constexpr Colour empty_ring{123, 135, 148}, half_full_ring{224, 157, 62}, full_ring{214, 69, 65};

std::string ring_colour(double fill) {
    return fill < 0.5 ? blend(empty_ring, half_full_ring, fill * 2)
                      : blend(half_full_ring, full_ring, fill * 2 - 1);
}

constexpr const char* user_colour = "#2b7a4b";
constexpr const char* engine_colour = "#c2571a";
constexpr const char* waiting_colour = "#7b8794";

constexpr int bar_points = 180;

// A cell of a bar from one point of it to another.
std::string bar_cell(int from, int to, const char* colour) {
    if (from == to) return "";
    return fmt::format("<td fixedsize=\"true\" width=\"{}\" height=\"6\" bgcolor=\"{}\"></td>",
                       to - from, colour);
}

// Rows of a table: the bar, and the figures that are its legend. Empty where nothing is known.
std::string split_rows(const Description::Split& split) {
    if (split.sum_ns() <= 0) return "";
    const auto points = [&split](double ns) {
        return static_cast<int>(ns / split.sum_ns() * bar_points + 0.5);
    };
    const int user = points(split.user_ns);
    const int engine = points(split.user_ns + split.engine_ns);
    const auto figure = [](const char* what, double ns, const char* colour) {
        return fmt::format("<font point-size=\"10\" color=\"{}\">{} {}</font>", colour, what,
                           detail::duration_text(static_cast<std::int64_t>(ns + 0.5)));
    };
    return fmt::format(
        "<tr><td align=\"left\"><table align=\"left\" border=\"0\" cellborder=\"0\" "
        "cellspacing=\"0\" "
        "cellpadding=\"0\" fixedsize=\"true\" width=\"{}\" height=\"6\">"
        "<tr>{}{}{}</tr></table></td></tr>"
        "<tr><td align=\"left\">{}  {}  {}</td></tr>",
        bar_points, bar_cell(0, user, user_colour), bar_cell(user, engine, engine_colour),
        bar_cell(engine, bar_points, waiting_colour), figure("user", split.user_ns, user_colour),
        figure("engine", split.engine_ns, engine_colour),
        figure("waiting", split.waiting_ns, waiting_colour));
}

// A label, with the split below it.
std::string with_split(const std::string& label, const Description::Split& split) {
    const std::string rows = split_rows(split);
    if (rows.empty()) return label;
    return fmt::format(
        "<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"1\">"
        "<tr><td align=\"left\">{}</td></tr>{}</table>",
        label, rows);
}

// Kinds that begin or end a stream stand out; the others are plain.
const char* node_fill(const std::string& kind) {
    if (kind == "source" || kind == "entrance") return "#d3f0e0";
    if (kind == "sink" || kind == "outlet" || kind == "exit") return "#d6e4fb";
    return "#ffffff";
}

class DotPicture {
  public:
    explicit DotPicture(const Description& description) : description_(description) {
        for (const Description::Edge& edge : description.edges) {
            records_max_ = std::max(records_max_, edge.records);
        }
    }

    std::string draw() {
        text_ = "digraph strid {\n";
        text_ +=
            "  rankdir=LR; compound=true; newrank=true; nodesep=0.35; ranksep=0.55; pad=0.3;\n";
        text_ += "  fontname=\"Helvetica\"; labelloc=t; labeljust=l; bgcolor=\"white\";\n";
        text_ +=
            "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=12, "
            "penwidth=1, color=\"#9aa5b1\", margin=\"0.16,0.08\"];\n";
        text_ += "  edge [fontname=\"Helvetica\", fontsize=10, arrowsize=0.75];\n";
        text_ += fmt::format("  label=<{}>;\n", with_split(heading(), description_.path));
        for (std::size_t index = 0; index < description_.segments.size(); ++index) {
            draw_segment(index);
        }
        for (const Description::Edge& edge : description_.edges) draw_edge(edge);
        return text_ + "}\n";
    }

  private:
    [[nodiscard]] bool ran() const { return description_.seconds > 0; }

    [[nodiscard]] std::string heading() const {
        std::string text = fmt::format("<font point-size=\"17\" color=\"{}\"><b>{}</b></font>", ink,
                                       escaped(description_.name));
        if (ran()) {
            const auto nanoseconds = static_cast<std::int64_t>(description_.seconds * 1e9);
            text += fmt::format("<font point-size=\"12\" color=\"{}\">   ran {}", pale_ink,
                                detail::duration_text(nanoseconds));
            if (const double ns = description_.path.sum_ns(); ns > 0) {
                text += fmt::format("  ·  mean latency {}",
                                    detail::duration_text(static_cast<std::int64_t>(ns + 0.5)));
            }
            text += "</font>";
        }
        return text;
    }

    [[nodiscard]] std::string segment_label(const Description::Segment& segment) const {
        std::vector<std::string> parts;
        if (segment.parallelism > 1)
            parts.push_back(fmt::format("<b>×{}</b>", segment.parallelism));
        if (ran()) {
            parts.push_back(fmt::format("busy {}", detail::percent_text(segment.busy_fraction)));
            if (segment.refused_fraction >= 0.005) {
                parts.push_back(
                    fmt::format("refused {}", detail::percent_text(segment.refused_fraction)));
            }
            if (segment.latency_p99_ns > 0) {
                parts.push_back(
                    fmt::format("p99 {}", detail::duration_text(segment.latency_p99_ns)));
            }
        }
        std::string label;
        for (const std::string& part : parts) {
            if (!label.empty()) label += "  ·  ";
            label += part;
        }
        return label;
    }

    [[nodiscard]] std::string operator_label(const Description::Operator& one) const {
        std::string label = fmt::format(
            "<font color=\"{}\"><b>{}</b></font><br/><font point-size=\"10\" color=\"{}\">{}", ink,
            escaped(one.name), pale_ink, escaped(one.kind));
        if (ran()) {
            const bool ends = one.records_out == 0 && (one.kind == "sink" || one.kind == "exit");
            label += fmt::format(
                "<br/>{}",
                detail::rate_text(ends ? one.records_in : one.records_out, description_.seconds));
        }
        return label + "</font>";
    }

    void draw_segment(std::size_t index) {
        const Description::Segment& segment = description_.segments[index];
        const std::string fill = blend(idle_tint, busy_tint, ran() ? segment.busy_fraction : 0.0);
        text_ += fmt::format("  subgraph cluster_{} {{\n", index);
        text_ += fmt::format(
            "    style=\"rounded,filled\"; fillcolor=\"{}\"; color=\"#cbd2d9\"; margin=12; "
            "labelloc=t; labeljust=l;\n",
            fill);
        const std::string label = segment_label(segment);
        if (label.empty()) {
            text_ += "    label=\"\";\n";
        } else {
            text_ += fmt::format(
                "    label=<{}>;\n",
                with_split(
                    fmt::format("<font point-size=\"10\" color=\"{}\">{}</font>", ink, label),
                    segment.split));
        }
        for (std::size_t place = 0; place < segment.operators.size(); ++place) {
            const Description::Operator& one = segment.operators[place];
            text_ += fmt::format("    {} [label=<{}>, fillcolor=\"{}\"];\n", node(index, place),
                                 operator_label(one), node_fill(one.kind));
            if (place == 0) continue;
            text_ +=
                fmt::format("    {} -> {} [color=\"{}\", arrowsize=0.5, minlen=1, weight=10];\n",
                            node(index, place - 1), node(index, place), pale_ink);
        }
        if (segment.operators.empty()) {
            text_ += fmt::format("    {} [label=\"\"];\n", node(index, 0));
        }
        text_ += "  }\n";
    }

    static std::string node(std::size_t segment, std::size_t place) {
        return fmt::format("s{}o{}", segment, place);
    }

    [[nodiscard]] std::string edge_label(const Description::Edge& edge) const {
        std::string label =
            fmt::format("<font color=\"{}\"><b>{}</b></font>", ink, escaped(edge.routing));
        const auto add_line = [&](const std::string& line) {
            label += fmt::format("<br/><font color=\"{}\">{}</font>", pale_ink, line);
        };
        if (edge.direct) add_line("direct call");
        if (!edge.note.empty()) add_line(escaped(edge.note));
        if (ran()) {
            add_line(detail::rate_text(edge.records, description_.seconds));
            if (shows_fill(edge)) add_line(fmt::format("fill {}", detail::percent_text(edge.fill)));
        }
        // A thin line of nothing keeps the text clear of a thick stroke.
        return label + "<br/><font point-size=\"5\"> </font>";
    }

    [[nodiscard]] bool shows_fill(const Description::Edge& edge) const {
        return ran() && !edge.direct && edge.fill >= 0;
    }

    void draw_edge(const Description::Edge& edge) {
        const std::size_t operators = description_.segments[edge.from_segment].operators.size();
        double width = 1.2;
        if (ran() && records_max_ > 0) {
            // The area of a stroke follows its rate; the square root keeps slow edges visible.
            width += 2.8 * std::sqrt(static_cast<double>(edge.records) /
                                     static_cast<double>(records_max_));
        }
        const std::string colour = ring_colour(shows_fill(edge) ? edge.fill : 0.0);
        text_ += fmt::format(
            "  {} -> {} [ltail=cluster_{}, lhead=cluster_{}, label=<{}>, color=\"{}\", "
            "penwidth={:.1f}{}];\n",
            node(edge.from_segment, operators == 0 ? 0 : operators - 1), node(edge.to_segment, 0),
            edge.from_segment, edge.to_segment, edge_label(edge), colour, width,
            edge.direct ? ", style=dashed"
            : edge.back ? ", constraint=false"
                        : "");
    }

    const Description& description_;
    std::uint64_t records_max_ = 0;
    std::string text_;
};

}  // namespace

std::string to_dot(const GraphDescription& description) {
    detail::check_edges(description);
    return DotPicture(description).draw();
}

}  // namespace strid
