// SPDX-License-Identifier: Apache-2.0
//
// Small sources and helpers that the engine's tests share.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <strid/stream/graph.hpp>

#include "../support/perturbed.hpp"
#include "../support/seeds.hpp"

namespace strid::test {

/// 0, 1, ... count - 1, from one replica.
struct Numbers {
    using record_type = std::uint64_t;
    static constexpr SourceTraits traits{.hears = events<>};
    std::uint64_t count = 0;
    std::uint64_t next = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && next != count; --budget) {
            if (!emit(std::uint64_t{next++})) return SourceStatus::more;
        }
        return next == count ? SourceStatus::finished : SourceStatus::more;
    }
    auto state() { return std::tie(count, next); }
};

/// A record that counts the live copies of itself, so that a lost or doubled destruction shows.
struct Tracked {
    static inline std::atomic<std::int64_t> alive{0};
    std::uint64_t value = 0;
    Tracked() { ++alive; }
    explicit Tracked(std::uint64_t n) : value(n) { ++alive; }
    Tracked(const Tracked& other) : value(other.value) { ++alive; }
    Tracked& operator=(const Tracked&) = default;
    ~Tracked() { --alive; }
};

/// The records of all replicas of a sink, in the order of taking.
template <class T>
class Collection {
  public:
    void add(T value) {
        const std::lock_guard lock{mutex_};
        values_.push_back(std::move(value));
    }
    [[nodiscard]] std::vector<T> take() {
        const std::lock_guard lock{mutex_};
        return std::move(values_);
    }

  private:
    std::mutex mutex_;
    std::vector<T> values_;
};

/// The ways to run a graph that every operator must answer the same under.
struct Way {
    std::string name;
    RunOptions options;
};

inline std::vector<Way> all_ways() {
    using Mode = RunOptions::Mode;
    std::vector<Way> ways;
    for (std::size_t workers : {1U, 2U, 3U}) {
        for (std::size_t parallelism : {0U, 1U, 3U}) {
            ways.push_back({"cooperative, " + std::to_string(workers) + " workers, parallelism " +
                                std::to_string(parallelism),
                            {.workers = workers, .parallelism = parallelism}});
        }
    }
    constexpr auto spin = RunOptions::Waiting::spin;
    ways.push_back({"cooperative, spinning", {.workers = 2, .parallelism = 2, .waiting = spin}});
    ways.push_back(
        {"dedicated, spinning", {.mode = Mode::dedicated, .parallelism = 2, .waiting = spin}});
    for (std::size_t parallelism : {1U, 2U, 4U}) {
        const auto replicas = ", parallelism " + std::to_string(parallelism);
        ways.push_back({"dedicated" + replicas,
                        {.mode = Mode::dedicated, .parallelism = parallelism, .fuse = false}});
        ways.push_back(
            {"dedicated, fused" + replicas, {.mode = Mode::dedicated, .parallelism = parallelism}});
        for (auto composition : {Composition::dedicated, Composition::centralised}) {
            const auto composed =
                ", composition " + std::to_string(static_cast<int>(composition)) + replicas;
            ways.push_back(
                {"cooperative" + composed,
                 {.parallelism = parallelism, .fuse = false, .composition = composition}});
            ways.push_back({"dedicated" + composed,
                            {.mode = Mode::dedicated,
                             .parallelism = parallelism,
                             .fuse = parallelism == 2,
                             .composition = composition}});
        }
        for (const std::uint64_t seed : seeds(8)) {
            ways.push_back({"simulation, seed " + std::to_string(seed) + replicas,
                            {.mode = Mode::simulation,
                             .parallelism = parallelism,
                             .fuse = seed % 3 != 0,
                             .seed = seed}});
        }
    }
    return ways;
}

}  // namespace strid::test
