// SPDX-License-Identifier: Apache-2.0
//
// The state() of a source that has a position is complete: a fresh source with the state of another
// one goes on with the next record. Sources of files and callbacks have no position yet to which
// they could go.
#include <cstdint>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/connector/generate.hpp>
#include <strid/connector/replay.hpp>

#include "../support/seeds.hpp"
#include "drive.hpp"

namespace strid::test {
namespace {

/// Polls until the source has ended, or `polls` times.
template <class Source>
bool polls(Source& source, Emit<std::int64_t>& emit, std::mt19937_64& random, std::size_t polls) {
    for (; polls != 0; --polls) {
        if (source.poll(emit, 1 + random() % 7) == SourceStatus::finished) return true;
    }
    return false;
}

/// The records of a source and of another that takes over are those of one.
template <class Make>
void goes_on(const Make& make) {
    for (const std::uint64_t seed : seeds(200)) {
        std::mt19937_64 random{seed};
        const Context context{.name = {}, .replica = random() % 2, .parallelism = 2};
        const auto whole = drain(make(), context);
        Emit<std::int64_t> emit;
        auto fresh = make();
        {
            auto first = make();
            test::open(first, context);
            const bool ended = polls(first, emit, random, random() % 20);
            test::open(fresh, context);
            fresh.state() = first.state();
            if (ended) continue;
        }
        while (!polls(fresh, emit, random, 100)) {
        }
        ASSERT_EQ(emit.records, whole.records) << "seed " << seed;
    }
}

TEST(Restored, SourceOfAVector) {
    std::vector<std::int64_t> numbers(97);
    for (std::size_t i = 0; i != numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
    goes_on([&] { return from_vector(numbers); });
    goes_on([&] { return replay(numbers, ReplayOptions{.passes = 3}); });
}

TEST(Restored, SourceOfAFunction) {
    goes_on([] {
        return generate(
            [](Random& random, std::uint64_t index) {
                return static_cast<std::int64_t>(random() % 1'000 + 1'000 * index);
            },
            GenerateOptions{.count = 113});
    });
}

}  // namespace
}  // namespace strid::test
