// SPDX-License-Identifier: Apache-2.0
//
// Farms and the ways to share their tasks against the obvious sequential computation, in every
// mode.
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "patterns.hpp"

namespace strid {
namespace {

using namespace test;

template <class Policy>
void shares_the_work(Policy policy) {
    for (const Options& options : all_options()) {
        for (const std::size_t workers : {1U, 3U}) {
            Collected<std::uint64_t> collected;
            run(pipeline(numbers(), farm(square, policy, {.workers = workers}), collected.node()),
                options);
            ASSERT_EQ(collected.sorted(), squares());
        }
    }
}

TEST(Farm, DoesEachTaskOnceByEveryPolicy) {
    shares_the_work(Adaptive{});
    shares_the_work(RoundRobin{});
    shares_the_work(OnDemand{1});
    shares_the_work(OnDemand{});
    shares_the_work(LeastLoaded{});
    shares_the_work(Weighted{[](std::uint64_t n) { return static_cast<double>(n % 5); }});
    shares_the_work(ByKey{[](std::uint64_t n) { return n % 11; }});
    shares_the_work(Chosen{[](std::uint64_t n, const Loads& loads) {
        return static_cast<std::size_t>(n) % loads.workers();
    }});
}

/// Which replica had which task.
class WhereItWas : public OperatorTypes<std::uint64_t, std::pair<std::uint64_t, std::size_t>> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "where", .hears = events<Opened>, .stateless = true};
    void on(const Opened& opened) { replica_ = opened.context.replica; }
    void process(std::uint64_t& n, auto& emit) { emit(std::pair{n, replica_}); }

  private:
    std::size_t replica_ = 0;
};
using Where = std::pair<std::uint64_t, std::size_t>;

TEST(Farm, TasksOfAKeyGoToOneWorkerInTheirOrder) {
    for (const Options& options : all_options()) {
        Collected<Where> collected;
        run(pipeline(
                numbers(),
                farm(WhereItWas{}, ByKey{[](std::uint64_t n) { return n % 11; }}, {.workers = 3}),
                collected.node()),
            options);
        std::map<std::uint64_t, Where> last;
        for (const Where& where : collected.tasks()) {
            const auto [before, first] = last.try_emplace(where.first % 11, where);
            if (first) continue;
            ASSERT_EQ(before->second.second, where.second);
            ASSERT_LT(before->second.first, where.first);
            before->second = where;
        }
    }
}

TEST(Farm, CopiesGoToAllOrToThoseThatAreChosen) {
    std::vector<Where> all;
    std::vector<Where> chosen;
    for (std::uint64_t n = 0; n < task_count; ++n) {
        for (std::size_t worker = 0; worker < 3; ++worker) {
            all.emplace_back(n, worker);
            if (n % 4 == worker || n % 5 == worker) chosen.emplace_back(n, worker);
        }
    }
    for (const Options& options : all_options()) {
        Collected<Where> collected;
        run(pipeline(numbers(), farm(WhereItWas{}, Broadcast{}, {.workers = 3}), collected.node()),
            options);
        ASSERT_EQ(collected.sorted(), all);
        Collected<Where> some;
        run(pipeline(numbers(),
                     farm(WhereItWas{}, Multicast{[](std::uint64_t n, std::size_t workers) {
                              std::vector<std::size_t> to;
                              if (n % 4 < workers) to.push_back(n % 4);
                              if (n % 5 < workers) to.push_back(n % 5);
                              return to;
                          }},
                          {.workers = 3}),
                     some.node()),
            options);
        ASSERT_EQ(some.sorted(), chosen);
    }
}

TEST(Farm, IsMadeOfPipelinesOfFarmsAndOfSources) {
    for (const Options& options : all_options()) {
        const auto negate = [](std::uint64_t n) { return ~n; };
        Collected<std::uint64_t> collected;
        run(pipeline(numbers(),
                     farm(pipeline(negate, farm(square, FarmOptions{.workers = 2}),
                                   [](std::uint64_t n) { return n; }),
                          FarmOptions{.workers = 2}),
                     collected.node()),
            options);
        std::vector<std::uint64_t> expected;
        for (std::uint64_t n = 0; n < task_count; ++n) expected.push_back(~n * ~n);
        std::sort(expected.begin(), expected.end());
        ASSERT_EQ(collected.sorted(), expected);

        Collected<std::uint64_t> of_farms;
        run(pipeline(numbers(),
                     farm(farm(square, OnDemand{1}, {.workers = 2}), RoundRobin{}, {.workers = 3}),
                     farm([](std::uint64_t n) { return n; }, FarmOptions{.workers = 2}),
                     of_farms.node()),
            options);
        ASSERT_EQ(of_farms.sorted(), squares());

        Collected<std::uint64_t> twice;
        run(pipeline(farm(numbers(), FarmOptions{.workers = 2}), square, twice.node()), options);
        std::vector<std::uint64_t> both = squares();
        both.insert(both.end(), both.begin(), both.end());
        std::sort(both.begin(), both.end());
        ASSERT_EQ(twice.sorted(), both);
    }
}

}  // namespace
}  // namespace strid
