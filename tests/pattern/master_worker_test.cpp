// SPDX-License-Identifier: Apache-2.0
//
// A master that divides problems, gives the parts to workers and puts the results together.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/pattern/accelerator.hpp>
#include <strid/pattern/master_worker.hpp>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

struct Part {
    std::uint64_t of = 0;
    std::uint64_t number = 0;
};
struct PartSum {
    std::uint64_t of = 0;
    std::uint64_t sum = 0;
};

/// The sum of 1 to n, a number a worker; each part is asked for when the one before is there.
struct Sums {
    std::map<std::uint64_t, std::uint64_t> sums = {};

    void operator()(std::uint64_t n, auto& out) {
        if (n == 0) return out(std::pair{n, std::uint64_t{0}});
        out.work(Part{n, 1});
    }
    void operator()(PartSum part, auto& out) {
        sums[part.of] += part.sum;
        if (part.sum == part.of) return out(std::pair{part.of, sums[part.of]});
        out.work(Part{part.of, part.sum + 1});
    }
};

TEST(MasterWorker, DecidesByTheResultsWhatComesNext) {
    for (const Options& options : all_options()) {
        Collected<std::pair<std::uint64_t, std::uint64_t>> results;
        const auto identity = [](Part part) { return PartSum{part.of, part.number}; };
        run(pipeline(numbers(40),
                     master_worker<Part, std::pair<std::uint64_t, std::uint64_t>>(
                         Sums{}, identity, OnDemand{1}, {.workers = 3}),
                     results.node()),
            options);
        std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
        for (std::uint64_t n = 0; n < 40; ++n) expected.emplace_back(n, n * (n + 1) / 2);
        ASSERT_EQ(results.sorted(), expected);
    }
}

using Text = std::unique_ptr<std::string>;
struct UntilLong {
    void operator()(Text text, auto& out) {
        if (text->size() < 10) return out.work(std::move(text));
        out(std::move(text));
    }
};

/// Work, result, task and what leaves have one type, which can only be moved.
TEST(MasterWorker, TakesTasksThatOnlyMove) {
    auto grow = accelerate<Text>(master_worker<Text, Text>(UntilLong{}, [](Text text) {
        *text += '.';
        return text;
    }));
    grow.offload(std::make_unique<std::string>("a"));
    grow.offload(std::make_unique<std::string>("abcdefghijkl"));
    grow.end();
    std::vector<std::string> results;
    while (const auto result = grow.result()) results.push_back(**result);
    EXPECT_THAT(results, testing::UnorderedElementsAre("a.........", "abcdefghijkl"));
}

}  // namespace
}  // namespace strid
