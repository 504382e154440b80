// SPDX-License-Identifier: Apache-2.0
//
// The pictures of a graph. Small ones are compared word for word; for random graphs the rails of
// the terminal picture are followed cell by cell and must lead exactly along the edges. SVG is
// tested with a stand-in for `dot`, and with Graphviz itself where it is installed.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/stream/drawing.hpp>

#include "../../support/seeds.hpp"

namespace strid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

GraphDescription word_count() {
    GraphDescription graph;
    graph.name = "word-count";
    graph.seconds = 2;
    graph.segments.push_back({.operators = {{"lines", "source", 1, 0, 2'400'000},
                                            {"splitter", "flat_map", 1, 2'400'000, 26'800'000}},
                              .parallelism = 1,
                              .busy_fraction = 0.92,
                              .refused_fraction = 0.31});
    graph.segments.push_back({.operators = {{"counter", "reduce", 4, 26'800'000, 26'800'000},
                                            {"writer", "sink", 4, 26'800'000, 0}},
                              .parallelism = 4,
                              .busy_fraction = 0.5,
                              .latency_p50_ns = 42'000,
                              .latency_p99_ns = 1'234'567});
    graph.edges.push_back({0, 1, "key_by", false, 26'800'000, 0.625});
    return graph;
}

TEST(DrawingText, AfterARun) {
    EXPECT_EQ(to_text(word_count()),
              "word-count · 2.00 s\n"
              "   ┌──────────────────────────────────────────┐\n"
              "   │ lines     source             ▶ 1.20 M/s  │\n"
              "   │ splitter  flat_map  1.20 M/s ▶ 13.4 M/s  │\n"
              "   │ busy █████████░ 92 %   refused 31 %      │\n"
              " ╭─┤ ▶ counter  key_by · 13.4 M/s · fill 62 % │\n"
              " │ └──────────────────────────────────────────┘\n"
              " │ ┌───────────────────────────────────── ×4 ─┐\n"
              " ╰─▶ counter   reduce    13.4 M/s ▶ 13.4 M/s  │\n"
              "   │ writer    sink      13.4 M/s ▶           │\n"
              "   │ busy █████░░░░░ 50 %   refused 0 %       │\n"
              "   │ latency p50 42.0 µs · p99 1.23 ms        │\n"
              "   └──────────────────────────────────────────┘\n");
}

TEST(DrawingText, BeforeARunInPlainCharacters) {
    GraphDescription graph = word_count();
    graph.seconds = 0;
    EXPECT_EQ(to_text(graph, Characters::ascii),
              "word-count\n"
              "   +--------------------+\n"
              "   | lines     source   |\n"
              "   | splitter  flat_map |\n"
              " .-+ > counter  key_by  |\n"
              " | +--------------------+\n"
              " | +--------------- x4 -+\n"
              " '-> counter   reduce   |\n"
              "   | writer    sink     |\n"
              "   +--------------------+\n");
}

TEST(DrawingText, PlainCharactersArePlainAfterARunToo) {
    const std::string text = to_text(word_count(), Characters::ascii);
    for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80) << text;
    EXPECT_THAT(text, HasSubstr("p50 42.0 us"));
}

TEST(DrawingText, RefusesWhatCannotBeDrawn) {
    GraphDescription graph = word_count();
    graph.edges.push_back({1, 7, "forward", false, 0, 0});
    EXPECT_THROW((void)to_text(graph), GraphError);
    EXPECT_THROW((void)to_dot(graph), GraphError);
    graph.edges.back() = {1, 0, "feedback", false, 0, 0};
    EXPECT_THROW((void)to_text(graph), GraphError);
    EXPECT_NO_THROW((void)to_dot(graph));
}

// The picture as cells, one code point each.
std::vector<std::vector<std::string>> cells_of(const std::string& text) {
    std::vector<std::vector<std::string>> rows(1);
    for (std::size_t at = 0; at < text.size();) {
        std::size_t length = 1;
        while (at + length < text.size() &&
               (static_cast<unsigned char>(text[at + length]) & 0xC0u) == 0x80u) {
            ++length;
        }
        const std::string cell = text.substr(at, length);
        at += length;
        if (cell == "\n") {
            rows.emplace_back();
        } else {
            rows.back().push_back(cell);
        }
    }
    return rows;
}

// Follows the rail that leaves a box in this row; the row where it enters another.
std::size_t follow(const std::vector<std::vector<std::string>>& rows, std::size_t row) {
    std::size_t column = 0;
    while (rows[row][column] != "┤") ++column;
    // Left along the row, over the rails it crosses, to its own turn.
    do --column;
    while (rows[row][column] == "─" || rows[row][column] == "┼");
    if (rows[row][column] != "╭") return 0;
    // Down over the rows that cross it, to the turn towards a box.
    do ++row;
    while (rows[row][column] == "│" || rows[row][column] == "┼");
    return rows[row][column] == "╰" || rows[row][column] == "┴" ? row : 0;
}

// Which segment's box each row belongs to, by the name of the segment's first operator.
std::map<std::size_t, std::string> boxes_of(const std::vector<std::vector<std::string>>& rows) {
    std::map<std::size_t, std::string> owner;
    std::string current;
    for (std::size_t row = 1; row < rows.size(); ++row) {
        std::string line;
        for (const std::string& cell : rows[row]) line += cell;
        const bool top = line.find("┌") != std::string::npos;
        if (top) {
            std::string next;
            for (const std::string& cell : rows[row + 1]) next += cell;
            const std::size_t at = next.find("seg");
            current = next.substr(at, next.find(' ', at) - at);
        }
        owner[row] = current;
    }
    return owner;
}

TEST(DrawingText, RailsLeadAlongTheEdges) {
    const std::uint64_t seed = test::first_seed();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    for (int round = 0; round < 200; ++round) {
        GraphDescription graph;
        graph.name = "random";
        const std::size_t size = 1 + random() % 9;
        std::set<std::pair<std::string, std::string>> expected;
        for (std::size_t segment = 0; segment < size; ++segment) {
            graph.segments.push_back({.operators = {{fmt::format("seg{}", segment), "map"}},
                                      .parallelism = 1 + random() % 3});
        }
        for (std::size_t from = 0; from < size; ++from) {
            for (std::size_t to = from + 1; to < size; ++to) {
                if (random() % 3 != 0) continue;
                graph.edges.push_back({from, to, "forward", false, 0, 0});
                expected.emplace(fmt::format("seg{}", from), fmt::format("seg{}", to));
            }
        }
        std::shuffle(graph.edges.begin(), graph.edges.end(), random);
        const std::string text = to_text(graph);
        const auto rows = cells_of(text);
        const auto owner = boxes_of(rows);
        std::set<std::pair<std::string, std::string>> found;
        for (std::size_t row = 1; row < rows.size(); ++row) {
            if (std::find(rows[row].begin(), rows[row].end(), "┤") == rows[row].end()) continue;
            const std::size_t target = follow(rows, row);
            ASSERT_NE(target, 0u) << text;
            found.emplace(owner.at(row), owner.at(target));
        }
        ASSERT_EQ(found, expected) << text;
    }
}

TEST(DrawingDot, HasClustersRatesAndEscapes) {
    GraphDescription graph = word_count();
    graph.segments[0].operators[0].name = "lines<int>";
    const std::string dot = to_dot(graph);
    EXPECT_THAT(dot, HasSubstr("subgraph cluster_0"));
    EXPECT_THAT(dot, HasSubstr("subgraph cluster_1"));
    EXPECT_THAT(dot, HasSubstr("<b>×4</b>  ·  busy 50 %  ·  p99 1.23 ms"));
    EXPECT_THAT(dot, HasSubstr("busy 92 %  ·  refused 31 %"));
    EXPECT_THAT(dot, HasSubstr("s0o1 -> s1o0 [ltail=cluster_0, lhead=cluster_1"));
    EXPECT_THAT(dot, HasSubstr("lines&lt;int&gt;"));
    EXPECT_THAT(dot, HasSubstr("penwidth=4.0"));
    EXPECT_THAT(dot, Not(HasSubstr("dashed")));
    graph.edges[0].direct = true;
    EXPECT_THAT(to_dot(graph), HasSubstr("style=dashed"));
    graph.seconds = 0;
    EXPECT_THAT(to_dot(graph), Not(HasSubstr("busy")));
    EXPECT_THAT(to_dot(graph), Not(HasSubstr("/s")));
}

// A directory with a program named `dot`, first in PATH while this object lives.
class StandInForDot {
  public:
    explicit StandInForDot(const std::string& script) : path_before_(std::getenv("PATH")) {
        directory_ = std::filesystem::temp_directory_path() /
                     fmt::format("strid-drawing-{}-{}", getpid(), ++serial);
        std::filesystem::create_directory(directory_);
        if (!script.empty()) {
            std::ofstream(directory_ / "dot") << "#!/bin/sh\n" << script << "\n";
            chmod((directory_ / "dot").c_str(), 0755);
        }
        setenv("PATH", directory_.c_str(), 1);
    }
    ~StandInForDot() {
        setenv("PATH", path_before_.c_str(), 1);
        std::filesystem::remove_all(directory_);
    }

  private:
    static inline int serial = 0;
    std::string path_before_;
    std::filesystem::path directory_;
};

TEST(DrawingSvg, HandsTheDotTextOverAndTheOutputBack) {
    const StandInForDot dot("echo '<svg'; /bin/cat; echo \"args $*\"");
    const std::string svg = to_svg(word_count());
    EXPECT_EQ(svg, fmt::format("<svg style=\"max-width: 100%; height: auto\"\n{}args -Tsvg\n",
                               to_dot(word_count())));
}

TEST(DrawingSvg, NamesThePackageWhenGraphvizIsMissing) {
    const StandInForDot nothing("");
    try {
        (void)to_svg(word_count());
        FAIL() << "drawn without dot";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("Debian package graphviz"));
    }
}

TEST(DrawingSvg, CarriesTheMessageOfAFailingDot) {
    const StandInForDot dot("echo 'it broke' >&2; exit 3");
    try {
        (void)to_svg(word_count());
        FAIL() << "a failure went unnoticed";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("it broke"));
    }
}

TEST(DrawingSvg, GraphvizAcceptsThePicture) {
    if (std::system("command -v dot >/dev/null 2>&1") != 0) {
        GTEST_SKIP() << "Graphviz is not installed";
    }
    GraphDescription graph = word_count();
    graph.name = "a \"quoted\" <name> & more";
    const std::string svg = to_svg(graph);
    EXPECT_THAT(svg, HasSubstr("<svg"));
    EXPECT_THAT(svg, HasSubstr("splitter"));
    EXPECT_THAT(svg, HasSubstr("13.4 M/s"));
}

}  // namespace
}  // namespace strid
