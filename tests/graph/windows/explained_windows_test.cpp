// SPDX-License-Identifier: Apache-2.0
//
// The text of explain() for windows that are shared in a way that was asked for: the distribution,
// how they are kept, and the names of paper 2 (table 1) in the picture and in the derivation.
#include <functional>

#include <gmock/gmock.h>

#include "explained.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;
using testing::HasSubstr;

/// The operators of papers 1 and 2 by name.
struct Distribution {
    std::string kind;
    std::string note;
    std::function<std::string(const RunOptions&)> explain;
};

std::vector<Distribution> distributions() {
    std::vector<Distribution> all;
    const auto add = [&all](std::string kind, std::string note, auto build) {
        all.push_back({std::move(kind), std::move(note), [build](const RunOptions& options) {
                           return explanation_of(build, options);
                       }});
    };
    const auto windows = sliding(100, 25);
    const auto counts = CountWindows::sliding(100, 25);
    const auto grouped = [](auto stream) {
        return std::move(stream).template key_by<&Event::key>();
    };
    add("parallel_windows", "farmed: every replica has every record", [=](auto stream) {
        return grouped(std::move(stream)).window(windows, mean, share::farmed);
    });
    add("parallel_windows", "farmed: every replica has every record", [=](auto stream) {
        auto [results, late] =
            grouped(std::move(stream)).window(windows, mean, share::farmed | late_apart);
        std::move(late).sink([](const Event&) {});
        return std::move(results);
    });
    add("parallel_windows", "farmed: every replica has every record", [=](auto stream) {
        return grouped(std::move(stream)).window(counts, mean, share::farmed);
    });
    add("paned_windows", "paned: panes by any replica", [=](auto stream) {
        return grouped(std::move(stream)).window(windows, mean, share::paned);
    });
    add("paned_windows", "paned: a pane by each replica in turn",
        [=](auto stream) { return grouped(std::move(stream)).window(counts, mean, share::paned); });
    add("map_reduce_windows", "map-reduce: parts of windows", [=](auto stream) {
        return grouped(std::move(stream)).window(windows, mean, share::map_reduce);
    });
    add("map_reduce_windows", "map-reduce: every replica adds up", [=](auto stream) {
        return grouped(std::move(stream)).window(counts, mean, share::map_reduce);
    });
    return all;
}

TEST(ExplainedWindows, SayWhatWasAskedForInThePapersNames) {
    for (const auto& [kind, note, explain] : distributions()) {
        const std::string explanation = explain({.workers = 3});
        EXPECT_THAT(explanation, HasSubstr(note)) << kind;
        EXPECT_THAT(explanation, HasSubstr("slides as a running total")) << kind;
        EXPECT_THAT(explanation, HasSubstr("f_d(" + kind))
            << kind << ": distributed in a way of its own";
    }
    EXPECT_THAT(explanation_of([](auto stream) {
                    return std::move(stream).template key_by<&Event::key>().window(
                        sliding(100, 25), sum, share::combined);
                }),
                HasSubstr("combined: records are added up before they are sent"));
}

/// The rules of the algebra take them as they are, in every way to run them.
TEST(ExplainedWindows, AreAdmissibleInEveryWay) {
    for (const auto& [kind, note, explain] : distributions()) {
        for (const std::size_t workers : {1U, 2U, 4U}) {
            for (const std::size_t parallelism : {0U, 1U, 3U}) {
                for (const Composition composition :
                     {Composition::combined, Composition::dedicated, Composition::centralised}) {
                    for (const bool fuse : {true, false}) {
                        const std::string explanation = explain({.workers = workers,
                                                                 .parallelism = parallelism,
                                                                 .fuse = fuse,
                                                                 .composition = composition});
                        EXPECT_THAT(explanation, HasSubstr("MultiPipe")) << kind;
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace strid
