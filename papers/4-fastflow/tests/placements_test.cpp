// SPDX-License-Identifier: Apache-2.0
//
// Where the two threads of table 1.1 are put, on machines that are written down here.
#include "../bench/placements.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace strid {
namespace {

using Pair = std::optional<std::pair<int, int>>;

std::map<std::string, Pair> placed(const Topology& topology) {
    std::map<std::string, Pair> all;
    for (const bench::Placement& one : bench::placements_of(topology)) {
        EXPECT_TRUE(all.emplace(one.name, one.processors).second) << one.name;
        EXPECT_FALSE(one.why_missing.empty()) << one.name;
    }
    return all;
}

std::map<std::string, Pair> expected(Pair threads, Pair near, Pair apart, Pair sockets) {
    return {{"two hardware threads of a core", threads},
            {"two cores that share a cache", near},
            {"two cores of a socket, no cache shared", apart},
            {"cores of two sockets", sockets}};
}

TEST(Placements, OfOneCoreAreNone) {
    EXPECT_EQ(placed(Topology({{7, 0, 0}})), expected({}, {}, {}, {}));
}

TEST(Placements, OfOneCoreWithTwoHardwareThreadsAreOne) {
    EXPECT_EQ(placed(Topology({{3, 0, 0, {9}}})), expected(Pair({3, 9}), {}, {}, {}));
}

TEST(Placements, OfCoresBelowOneCache) {
    EXPECT_EQ(placed(Topology({{0, 0, 0}, {1, 0, 0}})), expected({}, Pair({0, 1}), {}, {}));
}

// As an EPYC: two caches in a socket; the first core's second thread is not ours.
TEST(Placements, OfTwoCachesInASocketAndTwoSockets) {
    const Topology topology({{0, 0, 0},
                             {1, 0, 0, {17}},
                             {2, 1, 0, {18}},
                             {3, 1, 0, {19}},
                             {4, 2, 1, {20}},
                             {5, 2, 1, {21}}});
    EXPECT_EQ(placed(topology), expected(Pair({1, 17}), Pair({0, 1}), Pair({0, 2}), Pair({0, 4})));
}

// As the paper's Intel workstation.
TEST(Placements, OfTwoSocketsWithACacheEach) {
    EXPECT_EQ(placed(Topology({{0, 0, 0, {2}}, {1, 1, 1, {3}}})),
              expected(Pair({0, 2}), {}, {}, Pair({0, 1})));
}

}  // namespace
}  // namespace strid
