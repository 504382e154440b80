// SPDX-License-Identifier: Apache-2.0
//
// The picture for a terminal. Segments are boxes in topological order, one below the other. Every
// edge has a line of its own at the bottom of the box it leaves and a rail on the left down to the
// first line of the box it enters; rails that overlap take different columns, short ones nearest to
// the boxes. First all lines are laid out, then the rails, then both are painted on one canvas.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/stream/drawing.hpp>

#include "drawing_format.hpp"

namespace strid {

namespace {

using Description = GraphDescription;

// The strokes of a picture; a cell of a rail is chosen by the directions in which it goes on.
struct Strokes {
    const char* horizontal;
    const char* vertical;
    const char* top_left;
    const char* top_right;
    const char* bottom_left;
    const char* bottom_right;
    const char* leaves;     // left border where an edge goes out
    const char* turns_in;   // rail: from the right, down
    const char* turns_out;  // rail: from above, right
    const char* joins;      // rail: from the left and above, right
    const char* crosses;
    const char* arrow;
    const char* back_arrow;
    const char* full;
    const char* empty;
    const char* none;
    const char* half;
    const char* times;
    const char* separator;
};

constexpr Strokes unicode{"─", "│", "┌", "┐", "└", "┘", "┤", "╭", "╰",  "┴",
                          "┼", "▶", "◀", "█", "░", "–", "▒", "×", " · "};
constexpr Strokes ascii{"-", "|", "+", "+", "+", "+", "+", ".", "'", "+",
                        "|", ">", "<", "#", ".", "-", "=", "x", ", "};

// Columns on a terminal: code points, none of ours is wide.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
    }));
}

std::string padded(const std::string& text, std::size_t width, bool right_aligned = false) {
    const std::size_t own = width_of(text);
    const std::string blanks(width > own ? width - own : 0, ' ');
    return right_aligned ? blanks + text : text + blanks;
}

std::string repeated(const char* stroke, std::size_t times) {
    std::string text;
    while (times-- > 0) text += stroke;
    return text;
}

std::string exchanged(const std::string& text, std::string_view from, std::string_view to) {
    std::string result;
    std::size_t begin = 0;
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, begin)) {
        result.append(text, begin, at - begin);
        result += to;
        begin = at + from.size();
    }
    return result.append(text, begin);
}

std::vector<std::size_t> segment_order(const Description& description) {
    std::vector<std::size_t> missing(description.segments.size());
    for (const Description::Edge& edge : description.edges) {
        if (!edge.back) ++missing[edge.to_segment];
    }
    std::vector<std::size_t> ready;
    for (std::size_t segment = missing.size(); segment-- > 0;) {
        if (missing[segment] == 0) ready.push_back(segment);
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
        order.push_back(ready.back());
        ready.pop_back();
        const std::size_t segment = order.back();
        // Backwards, so that the first branch comes out of the stack first.
        for (std::size_t index = description.edges.size(); index-- > 0;) {
            const Description::Edge& edge = description.edges[index];
            if (!edge.back && edge.from_segment == segment && --missing[edge.to_segment] == 0) {
                ready.push_back(edge.to_segment);
            }
        }
    }
    if (order.size() != missing.size()) throw GraphError("the graph has a cycle");
    return order;
}

class TextPicture {
  public:
    TextPicture(const Description& description, Characters characters)
        : description_(description),
          strokes_(characters == Characters::unicode ? unicode : ascii),
          plain_(characters == Characters::ascii) {}

    std::string draw() {
        measure();
        rails_.resize(description_.edges.size());
        for (const std::size_t segment : segment_order(description_)) lay_out(segment);
        assign_columns();
        std::string text = heading();
        for (std::size_t row = 0; row < lines_.size(); ++row) {
            std::string line = gutter(row) + lines_[row];
            while (!line.empty() && line.back() == ' ') line.pop_back();
            text += line + "\n";
        }
        return text;
    }

  private:
    struct Rail {
        std::size_t top = 0;     // row where it leaves a box
        std::size_t bottom = 0;  // row where it enters one
        std::size_t column = 0;  // from the boxes outwards
        bool drawn = false;      // not: the edge leads back
    };

    [[nodiscard]] bool ran() const { return description_.seconds > 0; }

    // The formatted figures use two signs that are not ASCII.
    [[nodiscard]] std::string figure(const std::string& text) const {
        return plain_ ? exchanged(exchanged(text, "µ", "u"), "–", "-") : text;
    }

    [[nodiscard]] std::string rate(std::uint64_t records) const {
        return figure(detail::rate_text(records, description_.seconds));
    }

    [[nodiscard]] std::string heading() const {
        std::string text = description_.name;
        if (ran()) {
            const auto nanoseconds = static_cast<std::int64_t>(description_.seconds * 1e9);
            text +=
                fmt::format("{}{}", strokes_.separator, figure(detail::duration_text(nanoseconds)));
        }
        text += "\n";
        if (ran() && description_.path.sum_ns() > 0) {
            text += "latency  " + split_line(description_.path) + "\n";
        }
        return text;
    }

    [[nodiscard]] std::string bar(double fraction) const {
        constexpr std::size_t cells = 10;
        const double exact = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(cells);
        const auto full = static_cast<std::size_t>(exact + 0.5);
        return repeated(strokes_.full, full) + repeated(strokes_.empty, cells - full);
    }

    // Where latency comes from: a bar, and the figures in its order.
    [[nodiscard]] std::string split_line(const Description::Split& split) const {
        constexpr double cells = 10;
        const auto cells_until = [&](double ns) {
            return static_cast<std::size_t>(ns / split.sum_ns() * cells + 0.5);
        };
        const auto time = [this](double ns) {
            return figure(detail::duration_text(static_cast<std::int64_t>(ns + 0.5)));
        };
        const std::size_t user = cells_until(split.user_ns);
        const std::size_t engine = cells_until(split.user_ns + split.engine_ns) - user;
        return fmt::format("{}{}{} user {}{}engine {}{}waiting {}", repeated(strokes_.full, user),
                           repeated(strokes_.half, engine),
                           repeated(strokes_.empty, cells_until(split.sum_ns()) - user - engine),
                           time(split.user_ns), strokes_.separator, time(split.engine_ns),
                           strokes_.separator, time(split.waiting_ns));
    }

    [[nodiscard]] std::string in_rate(const Description::Operator& one) const {
        const bool begins = one.kind == "source" || one.kind == "entrance";
        return one.records_in == 0 && begins ? "" : rate(one.records_in);
    }
    [[nodiscard]] std::string out_rate(const Description::Operator& one) const {
        const bool ends = one.kind == "sink" || one.kind == "exit";
        return one.records_out == 0 && ends ? "" : rate(one.records_out);
    }

    void measure() {
        for (const Description::Segment& segment : description_.segments) {
            for (const Description::Operator& one : segment.operators) {
                name_width_ = std::max(name_width_, width_of(one.name));
                kind_width_ = std::max(kind_width_, width_of(one.kind));
                if (!ran()) continue;
                in_width_ = std::max(in_width_, width_of(in_rate(one)));
                out_width_ = std::max(out_width_, width_of(out_rate(one)));
            }
        }
        for (std::size_t index = 0; index < description_.edges.size(); ++index) {
            const std::string name = target_name(description_.edges[index]);
            target_width_ = std::max(target_width_, width_of(name));
        }
        for (const Description::Segment& segment : description_.segments) {
            for (const std::string& line : content_of(segment)) {
                box_width_ = std::max(box_width_, width_of(line));
            }
        }
        for (const Description::Edge& edge : description_.edges) {
            box_width_ = std::max(box_width_, width_of(edge_line(edge)));
        }
    }

    [[nodiscard]] std::string target_name(const Description::Edge& edge) const {
        const Description::Segment& target = description_.segments[edge.to_segment];
        return target.operators.empty() ? std::string("?") : target.operators.front().name;
    }

    // One line for each operator, then what the segment did.
    [[nodiscard]] std::vector<std::string> content_of(const Description::Segment& segment) const {
        std::vector<std::string> lines;
        for (const Description::Operator& one : segment.operators) {
            std::string line = padded(one.name, name_width_) + "  " + padded(one.kind, kind_width_);
            if (ran()) {
                line += fmt::format("  {} {} {}", padded(in_rate(one), in_width_, true),
                                    strokes_.arrow, padded(out_rate(one), out_width_, true));
            }
            lines.push_back(line);
            if (ran()) continue;
            for (const std::string& note : one.notes) lines.push_back("  " + note);
        }
        if (lines.empty()) lines.emplace_back("(no operators)");
        if (ran()) {
            std::string load = fmt::format("busy {} {}", bar(segment.busy_fraction),
                                           detail::percent_text(segment.busy_fraction));
            if (segment.refused_fraction >= 0) {
                load += "   refused " + detail::percent_text(segment.refused_fraction);
            }
            lines.push_back(std::move(load));
            if (segment.latency_p99_ns > 0) {
                lines.push_back(fmt::format(
                    "latency p50 {}{}p99 {}", figure(detail::duration_text(segment.latency_p50_ns)),
                    strokes_.separator, figure(detail::duration_text(segment.latency_p99_ns))));
            }
            if (segment.split.sum_ns() > 0) lines.push_back("adds " + split_line(segment.split));
        }
        return lines;
    }

    [[nodiscard]] std::string edge_line(const Description::Edge& edge) const {
        std::string line =
            fmt::format("{} {}  {}", edge.back ? strokes_.back_arrow : strokes_.arrow,
                        padded(target_name(edge), target_width_), edge.routing);
        if (edge.direct) line += strokes_.separator + std::string("direct call");
        if (!edge.note.empty()) line += strokes_.separator + edge.note;
        if (ran()) {
            line += fmt::format("{}{}", strokes_.separator, rate(edge.records));
            if (!edge.direct && edge.fill >= 0) {
                line +=
                    fmt::format("{}fill {}", strokes_.separator, detail::percent_text(edge.fill));
            }
        }
        return line;
    }

    void add_line(const char* left, const std::string& content, const char* right) {
        lines_.push_back(fmt::format("{} {} {}", left, padded(content, box_width_), right));
    }

    void lay_out(std::size_t index) {
        const Description::Segment& segment = description_.segments[index];
        const std::string replicas =
            segment.parallelism == 1 ? std::string()
                                     : fmt::format(" {}{} ", strokes_.times, segment.parallelism);
        const std::size_t rule = box_width_ + 1 - width_of(replicas);
        lines_.push_back(fmt::format("{}{}{}{}{}", strokes_.top_left,
                                     repeated(strokes_.horizontal, rule), replicas,
                                     strokes_.horizontal, strokes_.top_right));
        bool first = true;
        for (const std::string& line : content_of(segment)) {
            if (first && has_input(index)) {
                enter(index);
                add_line(strokes_.arrow, line, strokes_.vertical);
            } else {
                add_line(strokes_.vertical, line, strokes_.vertical);
            }
            first = false;
        }
        for (std::size_t edge = 0; edge < description_.edges.size(); ++edge) {
            if (description_.edges[edge].from_segment != index) continue;
            if (description_.edges[edge].back) {
                add_line(strokes_.vertical, edge_line(description_.edges[edge]), strokes_.vertical);
                continue;
            }
            rails_[edge].drawn = true;
            rails_[edge].top = lines_.size();
            add_line(strokes_.leaves, edge_line(description_.edges[edge]), strokes_.vertical);
        }
        lines_.push_back(fmt::format("{}{}{}", strokes_.bottom_left,
                                     repeated(strokes_.horizontal, box_width_ + 2),
                                     strokes_.bottom_right));
    }

    [[nodiscard]] bool has_input(std::size_t segment) const {
        return std::any_of(description_.edges.begin(), description_.edges.end(),
                           [&](const Description::Edge& edge) {
                               return edge.to_segment == segment && !edge.back;
                           });
    }

    // All rails into a segment end at the row about to be added.
    void enter(std::size_t segment) {
        for (std::size_t edge = 0; edge < description_.edges.size(); ++edge) {
            if (description_.edges[edge].to_segment == segment) rails_[edge].bottom = lines_.size();
        }
    }

    // Short rails first, each in the nearest column that is free over its whole length.
    void assign_columns() {
        std::vector<std::size_t> by_length(rails_.size());
        for (std::size_t index = 0; index < by_length.size(); ++index) by_length[index] = index;
        std::stable_sort(by_length.begin(), by_length.end(), [&](std::size_t a, std::size_t b) {
            return rails_[a].bottom - rails_[a].top < rails_[b].bottom - rails_[b].top;
        });
        std::vector<std::size_t> placed;
        for (const std::size_t index : by_length) {
            Rail& rail = rails_[index];
            const auto taken = [&](std::size_t other) {
                return rails_[other].column == rail.column && rails_[other].top <= rail.bottom &&
                       rail.top <= rails_[other].bottom;
            };
            if (!rail.drawn) continue;
            while (std::any_of(placed.begin(), placed.end(), taken)) ++rail.column;
            placed.push_back(index);
            columns_ = std::max(columns_, rail.column + 1);
        }
    }

    // The cells left of one row, two characters to a column, outermost column first.
    [[nodiscard]] std::string gutter(std::size_t row) const {
        std::string text = " ";
        bool open = false;  // a horizontal stroke comes from further left
        for (std::size_t column = columns_; column-- > 0;) {
            const char* cell = open ? strokes_.horizontal : " ";
            for (const Rail& rail : rails_) {
                if (!rail.drawn || rail.column != column) continue;
                if (row < rail.top || row > rail.bottom) continue;
                if (row == rail.top) {
                    cell = strokes_.turns_in;  // each edge leaves on a row of its own
                } else if (row == rail.bottom) {
                    cell = open ? strokes_.joins : strokes_.turns_out;
                } else {
                    cell = open ? strokes_.crosses : strokes_.vertical;
                }
                open = open || row == rail.top || row == rail.bottom;
            }
            text += cell;
            text += open ? strokes_.horizontal : " ";
        }
        return text;
    }

    const Description& description_;
    const Strokes& strokes_;
    bool plain_;
    std::size_t name_width_ = 0, kind_width_ = 0, in_width_ = 0, out_width_ = 0;
    std::size_t target_width_ = 0;
    std::size_t box_width_ = 16;  // room at least for a number of replicas in the upper border
    std::size_t columns_ = 0;
    std::vector<std::string> lines_;
    std::vector<Rail> rails_;
};

}  // namespace

std::string to_text(const GraphDescription& description, Characters characters) {
    detail::check_edges(description);
    return TextPicture(description, characters).draw();
}

}  // namespace strid
