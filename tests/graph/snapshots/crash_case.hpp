// SPDX-License-Identifier: Apache-2.0
//
// The graphs that crash (crash_test.cpp), one for each seed. They are compiled in several files:
// crash_windows.cpp and crash_orders.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include <strid/strid.hpp>

#include "crash.hpp"

namespace strid::test {

inline std::string text_of(const Number& one) {
    return std::to_string(one.key) + " " + std::to_string(one.source) + " " +
           std::to_string(one.number);
}
template <class K, class V, class Bounds>
std::string text_of(const WindowResult<K, V, Bounds>& one) {
    std::ostringstream text;
    text << one.key << " ";
    if constexpr (requires { one.window.end.ns(); }) {
        text << one.window.start.ns() << " " << one.window.end.ns();
    } else {
        text << one.window.start << " " << one.window.end;
    }
    text << " " << one.value;
    return text.str();
}
template <class V>
std::string text_of(const Keyed<std::uint32_t, V>& one) {
    return std::to_string(one.key) + " " + std::to_string(one.value);
}
inline std::string text_of(const std::pair<std::int64_t, std::int64_t>& one) {
    return std::to_string(one.first) + " " + std::to_string(one.second);
}

template <class T>
std::string row_of(const T& one) {
    return text_of(one);
}

inline constexpr auto number_of = [](const Number& one) { return one.number; };

/// An operator with a state that comes into a graph and leaves it again.
struct Counting {
    static constexpr FunctionTraits traits{.hears = events<>};
    Number operator()(const Number& one) {
        ++records;
        return one;
    }
    auto state() { return std::tie(records); }
    std::uint64_t records = 0;
};

class CrashCase {
  public:
    /// `process`: of the runs of a graph, each of which has other numbers of replicas where a state
    /// is by key, or there is none, and some operators that change no row.
    CrashCase(std::uint64_t seed, std::shared_ptr<World> world, std::uint64_t process = 0)
        : random_(seed),
          random_replicas_(seed + process),
          world_(std::move(world)),
          file_(std::make_shared<FileInWorld>(world_)) {}

    /// A graph of the seed.
    [[nodiscard]] Graph graph();

  private:
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    /// The state of a source is not by key.
    [[nodiscard]] std::size_t replicas_of_source() { return 1 + below(3); }
    [[nodiscard]] std::size_t replicas() { return 1 + random_replicas_() % 3; }

    auto numbers(Graph& graph, std::uint32_t source, std::size_t parallelism) {
        return graph.source(
            NumbersInWorld(world_, source, static_cast<std::int64_t>(count_), keys_),
            {.name = "numbers-" + std::to_string(source), .parallelism = parallelism});
    }
    template <class Numbers>
    static auto timed(Numbers numbers, std::uint32_t source) {
        return std::move(numbers).template event_time<&Number::time>(
            BoundedDisorder{Duration{60 + 30}}, {.name = "time-" + std::to_string(source)});
    }
    auto timed(Graph& graph, std::uint32_t source) {
        return timed(numbers(graph, source, replicas_of_source()), source);
    }
    /// With an operator that is not in each run.
    TimedStream<Number, &Number::time> timed_and_changed(Graph& graph, std::uint32_t source) {
        auto stream = numbers(graph, source, replicas_of_source());
        const auto kind = random_replicas_() % 3;
        if (kind == 0) return timed(std::move(stream), source);
        if (kind == 1) return timed(std::move(stream).map(Passing<Number>{world_}), source);
        return timed(
            std::move(stream).map(Counting{}, {.name = "counting-" + std::to_string(source)}),
            source);
    }
    template <class Stream>
    Graph finish(Graph graph, Stream stream) {
        using T = typename Stream::record_type;
        if (random_replicas_() % 3 == 0) {
            return write<T>(std::move(graph), std::move(stream).map(Passing<T>{world_}));
        }
        return write<T>(std::move(graph), std::move(stream));
    }
    template <class T, class Stream>
    Graph write(Graph graph, Stream stream) {
        // With as many replicas as the operator before it, it is fused with that one.
        std::move(stream).sink(WriteInWorld<T>(world_, file_, &row_of<T>),
                               {.parallelism = random_replicas_() % 2 == 0 ? 0 : replicas()});
        return graph;
    }

    // crash_windows.cpp
    Graph tumbling(Graph graph);
    Graph sliding(Graph graph);
    Graph sessions(Graph graph);
    Graph counts(Graph graph);
    Graph join(Graph graph);
    Graph together(Graph graph);
    // crash_orders.cpp
    Graph stateless(Graph graph);
    Graph timers(Graph graph);
    Graph sums(Graph graph);
    Graph ordered(Graph graph);
    Graph stamped_in_order(Graph graph);
    Graph timed_in_order(Graph graph);
    Graph partial_sums(Graph graph);
    Graph deduplicated(Graph graph);

    template <class Windows>
    Graph windows(Graph graph, Windows windows);

  private:
    std::mt19937_64 random_;
    std::mt19937_64 random_replicas_;
    std::shared_ptr<World> world_;
    std::shared_ptr<FileInWorld> file_;
    std::uint64_t count_ = 0;
    std::uint32_t keys_ = 1;
};

}  // namespace strid::test
