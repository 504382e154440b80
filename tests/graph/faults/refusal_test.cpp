// SPDX-License-Identifier: Apache-2.0
//
// Wirings that make no sense and compile: while a graph is built or before it runs, a GraphError
// says what is wrong with which operator.
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../test_sources.hpp"

namespace strid {
namespace {

using test::Numbers;
using testing::AllOf;
using testing::HasSubstr;

template <class Build>
std::string refusal(Build build, const RunOptions& options = {}) {
    Graph graph{"refused"};
    try {
        build(graph);
        run(graph, options);
    } catch (const GraphError& error) {
        return error.what();
    }
    return "";
}

TEST(Refusal, OfGraphsThatMakeNoSenseIsByName) {
    const auto ignore = [](std::uint64_t) {};
    EXPECT_THAT(refusal([](Graph&) {}), HasSubstr("no source"));
    EXPECT_THAT(refusal([](Graph& g) {
                    [[maybe_unused]] auto stream =
                        g.source(Numbers{1}, {.name = "numbers"}).rebalance();
                }),
                HasSubstr("'numbers' leads nowhere"));
    EXPECT_THAT(refusal([&](Graph& g) {
                    g.source(Numbers{1}).sink(ignore);
                    [[maybe_unused]] auto stream =
                        g.source(Numbers{1}).map([](std::uint64_t&) {}, {.name = "dropped"});
                }),
                HasSubstr("'dropped' leads nowhere"));
    EXPECT_THAT(refusal([&](Graph& g) {
                    g.source(Numbers{1}).sink(ignore);
                    [[maybe_unused]] auto stream =
                        g.source(Numbers{1}, {.name = "numbers"}).key_by(std::identity{});
                }),
                HasSubstr("'numbers' leads nowhere"));
    EXPECT_THAT(
        refusal([&](Graph& g) {
            auto branches =
                g.source(Numbers{1}, {.name = "numbers"}).split(2, [](const std::uint64_t&) {
                    return 0;
                });
            branches.select(0).sink(ignore);
        }),
        HasSubstr("branch 1 behind operator 'numbers' leads nowhere"));
    EXPECT_THAT(
        refusal([&](Graph& g) { g.source(Numbers{1}, {.name = "x"}).sink(ignore, {.name = "x"}); }),
        HasSubstr("two operators are named 'x'"));
    EXPECT_THAT(
        refusal([&](Graph& g) {
            g.source(Numbers{1}).rebalance().sink(ignore, {.name = "wide", .parallelism = 10'000});
        }),
        HasSubstr("'wide': parallelism 10000 is above the limit"));
    EXPECT_THAT(refusal([&](Graph& g) {
                    g.source(Numbers{1})
                        .key_by([](const std::uint64_t& n) { return n; })
                        .sink(ignore, {.name = "keyed", .parallelism = 200});
                }),
                HasSubstr("'keyed': parallelism 200 is above the number of key groups"));
    EXPECT_THAT(refusal([&](Graph& g) { g.source(Numbers{1}).sink(ignore); },
                        {.operator_parallelism = {{"nobody", 2}}}),
                HasSubstr("'nobody'"));
    EXPECT_THAT(refusal([&](Graph& g) { g.source(Numbers{1}, {.name = "n"}).sink(ignore); },
                        {.operator_parallelism = {{"n", 0}}}),
                HasSubstr("'n': parallelism must be at least 1"));
}

TEST(Refusal, OfSectionsWhoseOrderCannotBeRestored) {
    const auto ignore = [](std::uint64_t) {};
    const auto same = [](const std::uint64_t& n) { return n; };
    EXPECT_THAT(refusal([&](Graph& g) {
                    g.source(Numbers{1})
                        .key_by(same)
                        .map(same, {.parallelism = 2})
                        .ordered()
                        .sink(ignore, {.name = "out"});
                }),
                AllOf(HasSubstr("ordered() before operator 'out'"), HasSubstr("by key")));
    EXPECT_THAT(refusal([&](Graph& g) {
                    g.source(Numbers{1})
                        .rebalance()
                        .map(same, {.name = "two", .parallelism = 2})
                        .map(same, {.name = "three", .parallelism = 3})
                        .ordered()
                        .sink(ignore);
                }),
                HasSubstr("operator 'two' with 2 replicas and 'three' with 3"));
    EXPECT_THAT(refusal([&](Graph& g) {
                    g.source(Numbers{1}, {.parallelism = 2}).map(same).ordered().sink(ignore);
                }),
                HasSubstr("a source with several replicas"));
    EXPECT_THAT(refusal([&](Graph& g) {
                    g.source(Numbers{1})
                        .merge(g.source(Numbers{1}))
                        .map(same, {.parallelism = 2})
                        .ordered()
                        .sink(ignore);
                }),
                HasSubstr("a merge"));
    EXPECT_THAT(refusal([&](Graph& g) {
                    auto branches =
                        g.source(Numbers{1}).split(2, [](const std::uint64_t&) { return 0; });
                    branches.select(0).map(same, {.parallelism = 2}).ordered().sink(ignore);
                    branches.select(1).sink(ignore);
                }),
                HasSubstr("a split"));
}

// The compiler sees a stream used twice where it is no rvalue, and no further than that.
TEST(Refusal, OfAStreamThatWasConsumedIsByName) {
    const auto ignore = [](std::uint64_t) {};
    const auto same = [](const std::uint64_t& n) { return n; };
    const auto used_twice = [&](auto first, auto second) {
        return refusal([&](Graph& g) {
            auto stream = g.source(Numbers{1}).map(same, {.name = "mine"});
            first(stream);
            second(stream);  // NOLINT: used after it was moved from, on purpose
        });
    };
    const auto is_refused =
        HasSubstr("the stream behind operator 'mine' was moved from: to read it twice, tee it");
    const auto sink = [&](auto& stream) { std::move(stream).sink(ignore); };
    const auto map = [&](auto& stream) { std::move(stream).map(same).sink(ignore); };
    const auto key_by = [&](auto& stream) {
        std::move(stream).key_by(same).map(same).sink(ignore);
    };
    const auto keyed_sink = [&](auto& stream) { std::move(stream).key_by(same).sink(ignore); };
    const auto rebalance = [&](auto& stream) { std::move(stream).rebalance().sink(ignore); };
    const auto split = [&](auto& stream) {
        std::move(stream).split(1, [](const std::uint64_t&) { return 0; }).select(0).sink(ignore);
    };
    const auto merge = [&](auto& stream) {
        auto other = std::move(stream);
        std::move(stream).merge(std::move(other)).sink(ignore);
    };
    EXPECT_THAT(used_twice(sink, sink), is_refused);
    EXPECT_THAT(used_twice(sink, map), is_refused);
    EXPECT_THAT(used_twice(map, map), is_refused);
    EXPECT_THAT(used_twice(map, key_by), is_refused);
    EXPECT_THAT(used_twice(key_by, keyed_sink), is_refused);
    EXPECT_THAT(used_twice(rebalance, split), is_refused);
    EXPECT_THAT(used_twice(split, rebalance), is_refused);
    EXPECT_THAT(used_twice([](auto&) {}, merge), is_refused);
    EXPECT_THAT(refusal([&](Graph& g) {
                    auto keyed = g.source(Numbers{1}, {.name = "mine"}).key_by(same);
                    std::move(keyed).sink(ignore);
                    std::move(keyed).sink(ignore);  // NOLINT
                }),
                is_refused);
    EXPECT_THAT(refusal([&](Graph& g) {
                    auto branches =
                        g.source(Numbers{1}, {.name = "mine"}).split(1, [](const std::uint64_t&) {
                            return 0;
                        });
                    auto branch = branches.select(0);
                    std::move(branch).sink(ignore);
                    std::move(branch).rebalance().sink(ignore);  // NOLINT
                }),
                is_refused);
}

TEST(Refusal, OfBranchesAndMergesThatMakeNoSense) {
    const auto ignore = [](std::uint64_t) {};
    const auto to_first = [](const std::uint64_t&) { return 0; };
    EXPECT_THAT(refusal([&](Graph& g) {
                    auto branches = g.source(Numbers{1}).split(1, to_first);
                    branches.select(0).sink(ignore);
                    branches.select(0).sink(ignore);
                }),
                HasSubstr("branch 0 was selected before"));
    EXPECT_THAT(refusal([&](Graph& g) { (void)g.source(Numbers{1}).split(2, to_first).select(2); }),
                HasSubstr("select of branch 2 of a split into 2"));
    EXPECT_THAT(refusal([&](Graph& g) { (void)g.source(Numbers{1}).split(0, to_first); }),
                HasSubstr("split into 0 branches"));
    EXPECT_THAT(refusal([&](Graph& g) {
                    Graph other{"other"};
                    g.source(Numbers{1}).merge(other.source(Numbers{1})).sink(ignore);
                }),
                HasSubstr("two different graphs"));
    EXPECT_THAT(refusal([&](Graph& g) {
                    Graph other{"other"};
                    g.source(Numbers{1})
                        .key_by(std::identity{})
                        .merge(other.source(Numbers{1}).key_by(std::identity{}))
                        .sink(ignore);
                }),
                HasSubstr("two different graphs"));
}

}  // namespace
}  // namespace strid
