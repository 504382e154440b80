// SPDX-License-Identifier: Apache-2.0
//
// A graph drawn at random: several sources, streams that are split, merged with others and with
// branches of other splits, spread over replicas and joined again; and what the same steps on
// vectors give.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../collected.hpp"
#include "../test_sources.hpp"

namespace strid::test {

using Values = std::vector<std::uint64_t>;

inline Values numbers(std::uint64_t n) {
    Values result;
    for (std::uint64_t i = 0; i != n; ++i) result.push_back(i);
    return result;
}

/// A stream that is not consumed yet, and what is to come out of it.
struct Open {
    Stream<std::uint64_t> stream;
    Values expected;
};

class RandomGraph {
  public:
    explicit RandomGraph(std::uint64_t seed) : random_(seed) {
        for (std::size_t sources = 1 + below(3); sources != 0; --sources) {
            const std::uint64_t records = below(perturbed ? 60 : 500);
            open_.push_back({graph_.source(Numbers{records}), numbers(records)});
        }
        for (std::size_t steps = 3 + below(8); steps != 0; --steps) step();
        for (Open& open : open_) {
            std::move(open.stream).sink(collected_.emplace_back().sink());
            std::sort(open.expected.begin(), open.expected.end());
        }
    }

    [[nodiscard]] const Graph& graph() const noexcept { return graph_; }

    void check(const RunOptions& options) {
        run(graph_, options);
        auto expected = open_.begin();
        for (const auto& collected : collected_) {
            EXPECT_EQ(collected.sorted(), (expected++)->expected) << graph_.explain(options);
        }
    }

  private:
    std::size_t below(std::size_t limit) { return random_() % limit; }

    Open take() {
        const auto chosen = open_.begin() + static_cast<std::ptrdiff_t>(below(open_.size()));
        Open taken = std::move(*chosen);
        open_.erase(chosen);
        return taken;
    }

    void step() {
        Open one = take();
        switch (below(6)) {
            case 0:
                open_.push_back({std::move(one.stream)
                                     .rebalance()
                                     .map([](const std::uint64_t& n) { return 3 * n; },
                                          {.parallelism = below(4)}),
                                 changed(one, [](std::uint64_t n) { return 3 * n; })});
                break;
            case 1:
                open_.push_back({std::move(one.stream)
                                     .key_by([](const std::uint64_t& n) { return n % 5; })
                                     .map([](const std::uint64_t& n) { return n + 1; }),
                                 changed(one, [](std::uint64_t n) { return n + 1; })});
                break;
            case 2:
                broadcast(std::move(one));
                break;
            case 3:
                split(std::move(one), 1 + below(3));
                break;
            default:
                merge(std::move(one), std::min(below(3), open_.size()));
                break;
        }
    }

    static Values changed(const Open& one, const std::function<std::uint64_t(std::uint64_t)>& f) {
        Values result;
        for (const std::uint64_t n : one.expected) result.push_back(f(n));
        return result;
    }

    void broadcast(Open one) {
        const std::size_t replicas = 1 + below(3);
        Values copies;
        for (std::size_t i = 0; i != replicas; ++i) {
            copies.insert(copies.end(), one.expected.begin(), one.expected.end());
        }
        open_.push_back(
            {std::move(one.stream)
                 .broadcast()
                 .map([](const std::uint64_t& n) { return n; }, {.parallelism = replicas}),
             std::move(copies)});
    }

    /// A record to the branch of its remainder, and to the first one besides.
    void split(Open one, std::size_t branches) {
        auto parts = std::move(one.stream).split(branches, [branches](const std::uint64_t& n) {
            Values to{n % branches};
            if (to.front() != 0 && n % 2 == 0) to.push_back(0);
            return to;
        });
        for (std::size_t branch = 0; branch != branches; ++branch) {
            Values expected;
            for (const std::uint64_t n : one.expected) {
                const bool also = branch == 0 && n % 2 == 0;
                if (n % branches == branch || also) expected.push_back(n);
            }
            open_.push_back({parts.select(branch), std::move(expected)});
        }
    }

    void merge(Open one, std::size_t others) {
        for (; others != 0; --others) {
            Open other = take();
            one.expected.insert(one.expected.end(), other.expected.begin(), other.expected.end());
            one.stream = std::move(one.stream).merge(std::move(other.stream));
        }
        open_.push_back(std::move(one));
    }

    std::mt19937_64 random_;
    Graph graph_{"random"};
    std::vector<Open> open_;
    std::list<Collected<std::uint64_t>> collected_;
};

}  // namespace strid::test
