// SPDX-License-Identifier: Apache-2.0
//
// Whether a graph allocates in its steady state, in every way to run it. Counted from half of the
// stream, when all before it is through, to its end; what a pool or a key table still acquires on
// the way may stay below one allocation in a thousand records, less than one per batch.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/stream/graph.hpp>

#include "../../support/allocation_row.hpp"
#include "../../support/allocations.hpp"
#include "../../support/perturbed.hpp"

namespace strid::test {

inline constexpr std::uint64_t records = 200'000;
inline constexpr double allocations_per_record_max = 0.001;

/// Where the source of a run rests until all that it has emitted is through: it may be far ahead of
/// what stands behind it, whose first half would then be taken for its second.
struct Halfway {
    std::atomic<bool> is_reached{false};
    std::atomic<bool> may_go_on{false};
    std::uint64_t allocated = 0;  // until then; written before `may_go_on`
};
inline Halfway halfway;

/// 0, 1, ... and what was allocated from half of the numbers on.
struct Watched {
    using record_type = std::uint64_t;
    static constexpr SourceTraits traits{.hears = events<>, .has = Has::wake_at_ns};
    std::uint64_t* steady = nullptr;
    std::uint64_t next = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && next != records; --budget) {
            if (next == records / 2 && !halfway.may_go_on.load()) {
                halfway.is_reached.store(true);
                return SourceStatus::idle;
            }
            if (!emit(std::uint64_t{next++})) break;
        }
        if (next != records) return SourceStatus::more;
        *steady = allocations.load() - halfway.allocated;
        return SourceStatus::finished;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        return next == records / 2 ? now_ns() + 1'000'000 : 0;
    }
    auto state() { return std::tie(next); }
};

/// Whether all that each segment has sent has come to those behind it and been handled there: a
/// node counts what it took and what it made of it together, when it is done with it.
bool is_through(const GraphDescription& graph, const RunReport& report);

/// Lets the source go on once all that it has emitted is through, and the same a few looks later.
void wait_at_half(const Running& running, const GraphDescription& graph);

/// A source that writes to `steady` what was allocated from half of its records on.
template <class Source>
Source watching(std::uint64_t& steady) {
    Source source{};
    source.steady = &steady;
    return source;
}

/// With batches so small that one allocation for each would be seen, and so that what is open at
/// once, which depends by chance on how far behind a consumer is, has all been had in the first
/// half.
inline constexpr std::size_t block_bytes = 4'096;
using Ways = std::vector<std::pair<std::string, RunOptions>>;
/// A task stays on its thread.
inline const Ways on_their_threads = {
    {"one worker", {.workers = 1, .block_bytes = block_bytes}},
    {"dedicated threads",
     {.mode = RunOptions::Mode::dedicated, .parallelism = 2, .block_bytes = block_bytes}}};
/// The workers take tasks over from each other.
inline const Ways taken_over = {
    {"two workers", {.workers = 2, .block_bytes = block_bytes}},
    {"not fused", {.workers = 2, .fuse = false, .block_bytes = block_bytes}}};

/// In a run of a graph whose source writes `steady`.
void expect_none_per_record_in(const Graph& graph, const std::string& name, const std::string& way,
                               const RunOptions& options, const std::uint64_t& steady);

template <class Source = Watched, class Build>
void expect_none_per_record(const std::string& name, const Build& build, const Ways& ways) {
    if (perturbed) GTEST_SKIP() << "perturbed";
    for (const auto& [way, options] : ways) {
        std::uint64_t steady = ~std::uint64_t{0};
        Graph graph{"allocations"};
        build(graph.source(watching<Source>(steady)));
        expect_none_per_record_in(graph, name, way, options, steady);
    }
}

template <class Source = Watched, class Build>
void expect_none_per_record(const std::string& name, const Build& build) {
    expect_none_per_record<Source>(name, build, on_their_threads);
    expect_none_per_record<Source>(name, build, taken_over);
}

struct Drop {
    static constexpr FunctionTraits traits{.hears = events<>, .parallel_by_default = true};

    template <class T>
    void operator()(const T&) const {}
};

inline const auto time_of = [](const std::uint64_t& n) {
    return EventTime::of_ns(static_cast<std::int64_t>(n));
};
inline const auto by_remainder = [](const std::uint64_t& n) { return n % 97; };

/// Times that go back by `bound` at most, without a watermark in the first quarter of the stream.
/// So windows then hold more records than ever after, and the maximum does not depend on how far
/// one source or replica is ahead of another.
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
