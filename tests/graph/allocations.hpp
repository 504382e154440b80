// SPDX-License-Identifier: Apache-2.0
//
// Whether a graph allocates in its steady state, in every way to run it. Counted from half of the
// stream to its end; what a pool or a key table still acquires on the way may stay below one
// allocation in a thousand records, far less than one per batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/graph/graph.hpp>

#include "../support/allocation_row.hpp"
#include "../support/allocations.hpp"
#include "../support/perturbed.hpp"

namespace strid::test {

inline constexpr std::uint64_t records = 400'000;
inline constexpr double allocations_per_record_max = 0.001;

/// 0, 1, ... and what had been allocated when half of the numbers and when all of them were out.
struct Watched {
    using record_type = std::uint64_t;
    std::uint64_t* steady = nullptr;
    std::uint64_t next = 0;
    std::uint64_t at_half = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && next != records; --budget) {
            if (next == records / 2) at_half = allocations.load();
            if (!emit(std::uint64_t{next++})) break;
        }
        if (next != records) return SourceStatus::more;
        *steady = allocations.load() - at_half;
        return SourceStatus::finished;
    }
};

/// What writes to `steady` what was allocated from half of its records on.
template <class Source>
Source watching(std::uint64_t& steady) {
    Source source{};
    source.steady = &steady;
    return source;
}

using Ways = std::vector<std::pair<std::string, RunOptions>>;
inline const Ways every_way = {
    {"one worker", {.workers = 1}},
    {"two workers", {.workers = 2}},
    {"not fused", {.workers = 2, .fuse = false}},
    {"dedicated threads", {.mode = RunOptions::Mode::dedicated, .parallelism = 2}}};
/// Where what there is at once depends on how much the edges hold, which is chance: with so little
/// that the first half of the stream has had all of it.
inline const Ways with_small_batches = [] {
    Ways ways = every_way;
    for (auto& [way, options] : ways) options.block_bytes = 4'096;
    return ways;
}();

template <class Source = Watched, class Build>
void expect_none_per_record(const std::string& name, Build&& build, const Ways& ways = every_way) {
    if (perturbed) GTEST_SKIP() << "perturbed";
    for (const auto& [way, options] : ways) {
        SCOPED_TRACE(name + ", " + way);
        std::uint64_t steady = ~std::uint64_t{0};
        Graph graph{"allocations"};
        build(graph.source(watching<Source>(steady)));
        const auto report = run(graph, options);
        EXPECT_EQ(report.records_in(), records);
        const double per_record = static_cast<double>(steady) / (records / 2.0);
        EXPECT_LE(per_record, allocations_per_record_max);
        print_allocations(name, way, per_record);
    }
}

struct Drop {
    static constexpr bool parallel_by_default = true;
    template <class T>
    void operator()(const T&) const {}
};

inline const auto time_of = [](const std::uint64_t& n) {
    return EventTime::of_ns(static_cast<std::int64_t>(n));
};
inline const auto by_remainder = [](const std::uint64_t& n) { return n % 97; };

/// Times that go back by `bound` at most, of which nothing is said for the first quarter of the
/// stream: so much lies in windows then as never after, and what the most is does not depend on how
/// far one source or replica happens to be ahead of another.
class LateStart {
  public:
    static constexpr bool never_goes_back = true;

    explicit LateStart(Duration bound = Duration::zero()) : bound_(bound) {}
    template <class T>
    void observe(const T&, EventTime time) noexcept {
        if (++seen_ >= records / 4) watermark_ = std::max(watermark_, time - bound_);
    }
    [[nodiscard]] EventTime watermark() const noexcept { return watermark_; }

  private:
    Duration bound_;
    std::uint64_t seen_ = 0;
    EventTime watermark_ = EventTime::earliest();
};

}  // namespace strid::test
