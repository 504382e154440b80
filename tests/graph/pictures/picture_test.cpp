// SPDX-License-Identifier: Apache-2.0
//
// The figures in a picture of a run, and the progress of several sources: figures that a
// hand-counted stream is known to have.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/program/main.hpp>
#include <strid/program/picture.hpp>

#include "../test_sources.hpp"

namespace strid {
namespace {

using test::Numbers;

constexpr std::uint64_t count = 1'000;

/// Multiples of three go one way and are doubled, the others go another; all meet again.
void split_and_merge(Graph& graph, std::uint64_t& sum) {
    auto branches =
        graph.source(Numbers{count}, {.name = "numbers"}).split(2, [](const std::uint64_t& n) {
            return n % 3 == 0 ? 0U : 1U;
        });
    auto thirds =
        branches.select(0).map([](const std::uint64_t& n) { return 2 * n; }, {.name = "twice"});
    branches.select(1)
        .merge(std::move(thirds))
        .sink([&sum](const std::uint64_t& n) { sum += n; }, {.name = "sum"});
}

TEST(Picture, ShowsWhatWentAlongEachEdge) {
    Graph graph{"split and merge"};
    std::uint64_t sum = 0;
    split_and_merge(graph, sum);
    const RunOptions options;
    const auto picture = annotated(graph.description(options), run(graph, options));
    std::map<std::pair<std::string, std::string>, std::uint64_t> records;
    for (const auto& edge : picture.edges) {
        records[{picture.segments[edge.from_segment].operators.back().name,
                 picture.segments[edge.to_segment].operators.front().name}] = edge.records;
    }
    const std::uint64_t thirds = (count + 2) / 3;
    using Edges = std::map<std::pair<std::string, std::string>, std::uint64_t>;
    EXPECT_EQ(records, (Edges{{{"numbers", "twice"}, thirds},
                              {{"twice", "sum"}, thirds},
                              {{"numbers", "route-3"}, count - thirds},
                              {{"route-3", "sum"}, count - thirds}}));
    EXPECT_GT(picture.seconds, 0);
}

TEST(Picture, OfAnotherGraphHasNoFigures) {
    Graph graph{"one"};
    std::uint64_t sum = 0;
    split_and_merge(graph, sum);
    EXPECT_EQ(annotated(graph.description(), RunReport{}).seconds, 0);
}

TEST(Picture, IsWrittenByAnyProgram) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("strid-picture-" + std::to_string(::getpid()) + ".txt");
    Graph graph{"drawn"};
    std::uint64_t sum = 0;
    split_and_merge(graph, sum);
    std::vector<std::string> words{"program", "--quiet", "--graph", path.string()};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    EXPECT_EQ(run(graph, static_cast<int>(arguments.size()), arguments.data()), 0);
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    EXPECT_THAT(text.str(), testing::HasSubstr("twice"));
    EXPECT_THAT(text.str(), testing::HasSubstr("/s"));  // a rate
    std::filesystem::remove(path);
}

TEST(Picture, ThatCannotBeDrawnIsReportedBeforeTheWork) {
    Graph graph{"not drawn"};
    std::uint64_t sum = 0;
    split_and_merge(graph, sum);
    for (const std::string path : {"graph.jpeg", "/no/such/folder/graph.txt"}) {
        std::vector<std::string> words{"program", "--quiet", "--graph", path};
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        EXPECT_NE(run(graph, static_cast<int>(arguments.size()), arguments.data()), 0) << path;
        EXPECT_EQ(sum, 0U) << path;
    }
}

/// Says how far it is, and waits for leave to end.
struct SlowSource {
    using record_type = std::uint64_t;
    static constexpr SourceTraits traits{.hears = events<>,
                                         .has = Has::wake_at_ns | Has::fraction_done};
    double fraction = 0;
    const std::atomic<bool>* may_end;

    template <class Emit>
    SourceStatus poll(Emit&, std::size_t) {
        return may_end->load() ? SourceStatus::finished : SourceStatus::idle;
    }
    [[nodiscard]] double fraction_done() const noexcept { return fraction; }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return now_ns() + 1'000'000; }
    auto state() { return std::tie(fraction); }
};

TEST(Progress, IsThatOfTheSourceFurthestFromItsEnd) {
    for (const double slower : {0.25, -1.0}) {
        Graph graph{"two sources"};
        std::atomic<bool> may_end{false};
        auto quick = graph.source(SlowSource{1, &may_end});
        auto slow = graph.source(SlowSource{slower, &may_end});
        std::move(quick).merge(std::move(slow)).sink([](const std::uint64_t&) {});
        auto running = start(graph);
        EXPECT_EQ(running.report().fraction_done, slower);
        may_end.store(true);
        running.wait();
    }
}

}  // namespace
}  // namespace strid
