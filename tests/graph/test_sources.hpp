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

std::vector<Way> all_ways();

}  // namespace strid::test

// Parts of graphs that most tests with numbers have, compiled once (test_sources.cpp).
namespace strid {

extern template class operators::Kernel<operators::SourceHead<test::Numbers>,
                                        operators::SingleSlotRouter<std::uint64_t>>;
extern template class operators::Kernel<operators::InputHead<std::uint64_t>,
                                        operators::SingleSlotRouter<std::uint64_t>,
                                        operators::Identity<std::uint64_t>>;
extern template class graph::Segment<operators::SingleSlotRouter<std::uint64_t>,
                                     operators::SourceHead<test::Numbers>>;
extern template class graph::Segment<operators::SingleSlotRouter<std::uint64_t>,
                                     operators::InputHead<std::uint64_t>,
                                     operators::Identity<std::uint64_t>>;

}  // namespace strid
