// SPDX-License-Identifier: Apache-2.0
//
// Pictures of patterns: the text word for word, before a run and of figures by hand; what DOT says;
// and what Graphviz makes of it, where it is installed.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/pattern/explain.hpp>
#include <strid/program/pattern_picture.hpp>

namespace strid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

auto numbers(int count) {
    return pattern::source([next = 0, count]() mutable -> std::optional<int> {
        if (next == count) return std::nullopt;
        return next++;
    });
}

/// Counts each number down.
auto countdown() {
    const auto step = pattern::node<int>([](int n, auto& emit) {
        if (n == 0) return emit(n);
        emit.again(n - 1);
    });
    return pattern::pipeline(
        numbers(10), pattern::iterate(pattern::farm(step, pattern::OnDemand{4}, {.workers = 2})),
        pattern::named("end", [](int) {}));
}

TEST(PatternPicture, BeforeARun) {
    EXPECT_EQ(to_text(drawing_of(pattern::describe(countdown()), "countdown")),
              "countdown\n"
              "   ┌───────────────────────────────────────────┐\n"
              "   │ source 1  source                          │\n"
              "   │   makes int                               │\n"
              " ╭─┤ ▶ loop 2  forward · 2,048 tasks           │\n"
              " │ └───────────────────────────────────────────┘\n"
              " │ ┌───────────────────────────────────────────┐\n"
              " ╰─▶ loop 2    loop                            │\n"
              "   │   takes int                               │\n"
              "   │   makes int                               │\n"
              " ╭─┤ ▶ node 3  OnDemand, depth 4 · 2,048 tasks │\n"
              " │ └───────────────────────────────────────────┘\n"
              " │ ┌────────────────────────────────────── ×2 ─┐\n"
              " ╰─▶ node 3    node                            │\n"
              "   │   takes int                               │\n"
              "   │   makes int                               │\n"
              "   │ ◀ loop 2  back · no bound                 │\n"
              " ╭─┤ ▶ end 5   forward · 2,048 tasks           │\n"
              " │ └───────────────────────────────────────────┘\n"
              " │ ┌───────────────────────────────────────────┐\n"
              " ╰─▶ end 5     sink                            │\n"
              "   │   takes int                               │\n"
              "   └───────────────────────────────────────────┘\n");
}

/// 1,000 numbers come in, 4,500 of 5,500 tasks go back; of two lanes the mean fill is shown.
TEST(PatternPicture, OfFiguresByHand) {
    pattern::Report report;
    report.network = pattern::describe(countdown(), {.lane_tasks = 32});
    report.seconds = 1;
    report.nodes.resize(5);
    report.nodes[0].counters.tasks_out = 1'000;
    report.nodes[0].busy_share = 0.1;
    report.nodes[1].counters = {.tasks_in = 5'500, .tasks_out = 5'500, .steps = {}, .own = {}};
    report.nodes[2].counters = {.tasks_in = 3'000, .tasks_out = 600, .steps = {}, .own = {}};
    report.nodes[2].busy_share = 0.9;
    report.nodes[3].counters = {.tasks_in = 2'500, .tasks_out = 400, .steps = {}, .own = {}};
    report.nodes[3].busy_share = 0.5;
    report.nodes[4].counters.tasks_in = 1'000;
    report.lanes = {{.tasks = 1'000, .waiting = 8},   // source 1 -> loop 2
                    {.tasks = 3'000, .waiting = 24},  // loop 2 -> its workers
                    {.tasks = 2'500, .waiting = 24}, {.tasks = 2'400, .waiting = 7},  // and back
                    {.tasks = 2'100, .waiting = 0},  {.tasks = 600, .waiting = 0},    // to the end
                    {.tasks = 400, .waiting = 16}};
    ASSERT_EQ(report.network.lanes.size(), report.lanes.size());
    const GraphDescription drawing = drawing_of(report, "countdown");
    ASSERT_EQ(drawing.segments.size(), 4U);
    EXPECT_EQ(drawing.segments[2].parallelism, 2U);
    EXPECT_DOUBLE_EQ(drawing.segments[2].busy_fraction, 0.7);
    ASSERT_EQ(drawing.edges.size(), 4U);
    EXPECT_EQ(drawing.edges[1].records, 5'500U);
    EXPECT_EQ(drawing.edges[1].fill, 0.75);
    EXPECT_EQ(to_text(drawing, Characters::ascii),
              "countdown, 1.00 s\n"
              "   +------------------------------------------------------------+\n"
              "   | source 1  source           > 1.00 K/s                      |\n"
              "   | busy #......... 10 %                                       |\n"
              " .-+ > loop 2  forward, 32 tasks, 1.00 K/s, fill 25 %           |\n"
              " | +------------------------------------------------------------+\n"
              " | +------------------------------------------------------------+\n"
              " '-> loop 2    loop    5.50 K/s > 5.50 K/s                      |\n"
              "   | busy .......... 0 %                                        |\n"
              " .-+ > node 3  OnDemand, depth 4, 32 tasks, 5.50 K/s, fill 75 % |\n"
              " | +------------------------------------------------------------+\n"
              " | +------------------------------------------------------- x2 -+\n"
              " '-> node 3    node    5.50 K/s > 1.00 K/s                      |\n"
              "   | busy #######... 70 %                                       |\n"
              "   | < loop 2  back, no bound, 4.50 K/s                         |\n"
              " .-+ > end 5   forward, 32 tasks, 1.00 K/s, fill 25 %           |\n"
              " | +------------------------------------------------------------+\n"
              " | +------------------------------------------------------------+\n"
              " '-> end 5     sink    1.00 K/s >                               |\n"
              "   | busy .......... 0 %                                        |\n"
              "   +------------------------------------------------------------+\n");
}

TEST(PatternPicture, OfARunThatIsOverShowsNoFill) {
    const auto drawing = drawing_of(pattern::run(countdown()), "countdown");
    EXPECT_GT(drawing.seconds, 0);
    EXPECT_THAT(to_text(drawing), AllOf(HasSubstr("busy"), Not(HasSubstr("fill"))));
    ASSERT_EQ(drawing.edges.size(), 4U);
    EXPECT_EQ(drawing.edges[0].records, 10U);
    EXPECT_EQ(drawing.edges[1].records, 55U);  // 0 + 1 + ... + 9 times around, and 10 ways in
    EXPECT_EQ(drawing.edges[2].records, 45U);
    EXPECT_EQ(drawing.edges[3].records, 10U);
}

TEST(PatternPicture, InDot) {
    const std::string dot = to_dot(drawing_of(pattern::describe(countdown()), "count < down"));
    EXPECT_THAT(
        dot, AllOf(HasSubstr("count &lt; down"), HasSubstr("<b>×2</b>"), HasSubstr("s0o0 -> s1o0"),
                   HasSubstr("s1o0 -> s2o0"), HasSubstr("s2o0 -> s3o0"),
                   HasSubstr("<b>OnDemand, depth 4</b>"), HasSubstr("no bound")));
    EXPECT_THAT(dot, testing::ContainsRegex("s2o0 -> s1o0 .*constraint=false"));
}

TEST(PatternPicture, AsSvg) {
    if (std::system("command -v dot >/dev/null 2>&1") != 0) GTEST_SKIP() << "no Graphviz";
    const std::string svg = to_svg(drawing_of(pattern::run(countdown()), "countdown"));
    EXPECT_THAT(svg, AllOf(HasSubstr("<svg"), HasSubstr("loop 2"), HasSubstr("end 5"),
                           HasSubstr("OnDemand, depth 4"), HasSubstr("</svg>")));
}

}  // namespace
}  // namespace strid
