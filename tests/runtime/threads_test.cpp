// SPDX-License-Identifier: Apache-2.0
//
// The processors of an execution's threads while it runs, as the kernel reports them: those that
// the options name, as in the plan (placement_test.cpp tests plans for other machines).
#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "../../src/runtime/task_placement.hpp"
#include "../support/whereabouts.hpp"
#include "toy_tasks.hpp"

namespace strid::test {
namespace {

using Processors = std::vector<int>;
constexpr auto dedicated = ExecutionOptions::Mode::dedicated;

/// Tasks of one step, in which the first `together` wait for each other: so many threads take part,
/// whichever step each of them runs.
struct Steps {
    Steps(std::size_t count, std::size_t together)
        : met(static_cast<std::ptrdiff_t>(together)), sightings(count) {
        for (std::size_t i = 0; i < count; ++i) {
            tasks.push_back(std::make_unique<FunctionTask>("task" + std::to_string(i),
                                                           [this, i, together](FunctionTask&) {
                                                               sightings[i].add();
                                                               if (i < together)
                                                                   met.arrive_and_wait();
                                                               return StepResult::finished;
                                                           }));
            borrowed.push_back(tasks.back().get());
        }
    }

    /// The processors that each thread may use.
    [[nodiscard]] std::multiset<Processors> of_threads() const {
        std::set<Whereabouts> all;
        std::set<std::thread::id> threads;
        for (const Sightings& of_task : sightings) {
            for (const Whereabouts& one : of_task.all()) {
                EXPECT_TRUE(
                    std::binary_search(one.may_be_on.begin(), one.may_be_on.end(), one.is_on));
                threads.insert(one.thread);
                all.insert({one.thread, one.may_be_on, 0});
            }
        }
        EXPECT_EQ(all.size(), threads.size()) << "a thread was let go elsewhere";
        std::multiset<Processors> result;
        for (const Whereabouts& one : all) result.insert(one.may_be_on);
        return result;
    }

    std::latch met;
    std::vector<Sightings> sightings;
    std::vector<std::unique_ptr<FunctionTask>> tasks;
    std::vector<Task*> borrowed;
};

/// `expected` are the processors of each worker, in the order of the plan; none if it may run on
/// any.
void run_and_compare(Steps& steps, const ExecutionOptions& options,
                     const std::vector<Processors>& expected) {
    std::vector<Processors> planned;
    for (const auto& pool : runtime::place(steps.borrowed, options, Topology::detect()).pools) {
        planned.insert(planned.end(), pool.processors.begin(), pool.processors.end());
    }
    EXPECT_EQ(planned, expected);
    const Processors anywhere = whereabouts().may_be_on;
    Execution execution(steps.borrowed, options);
    execution.start();
    execution.wait();
    std::multiset<Processors> threads;
    for (const Processors& processors : expected) {
        threads.insert(processors.empty() ? anywhere : processors);
    }
    EXPECT_EQ(steps.of_threads(), threads);
    const auto workers = execution.snapshot().workers;
    ASSERT_EQ(workers.size(), expected.size());
    for (std::size_t i = 0; i < workers.size(); ++i) {
        EXPECT_EQ(workers[i].processor, expected[i].size() == 1 ? expected[i][0] : -1);
    }
}

/// The first and the last core, which may be one.
std::pair<int, int> ends() {
    const Topology topology = Topology::detect();
    return {topology.cores().front().processor, topology.cores().back().processor};
}

TEST(Threads, OfTasksAreOnTheProcessorsThatAnAffinityNames) {
    const auto [first, last] = ends();
    const Processors affinity{first, last, first};
    Steps steps(3, 3);
    run_and_compare(steps, {.mode = dedicated, .affinity = affinity}, {{first}, {last}, {first}});
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(was_only_on(steps.sightings[i], affinity[i])) << i;
    }
}

TEST(Threads, OfWorkersAreOnTheProcessorsThatAnAffinityNames) {
    const auto [first, last] = ends();
    std::vector<Processors> workers{{first}};
    if (first != last) workers.push_back({last});
    Steps steps(3, workers.size());
    run_and_compare(steps, {.affinity = {first, last, first}}, workers);
}

TEST(Threads, OfATaskThatBlocksIsOnTheProcessorThatItsAffinityNames) {
    const auto [first, last] = ends();
    Steps steps(2, 2);
    steps.tasks[1]->blocks = true;
    run_and_compare(steps, {.affinity = {first, last}}, {{last}, {first}});
    EXPECT_TRUE(was_only_on(steps.sightings[0], first));
    EXPECT_TRUE(was_only_on(steps.sightings[1], last));
}

TEST(Threads, ThatArePinnedAreOnNeighbouringCores) {
    const Topology topology = Topology::detect();
    std::vector<Processors> cores;
    for (const Core& core : topology.cores()) cores.push_back({core.processor});
    Steps shared(cores.size(), cores.size());
    run_and_compare(shared, {.pin = true}, cores);
    cores.push_back(cores.front());  // goes round
    Steps own(cores.size(), cores.size());
    run_and_compare(own, {.mode = dedicated, .pin = true}, cores);
    for (std::size_t i = 0; i < cores.size(); ++i) {
        EXPECT_TRUE(was_only_on(own.sightings[i], cores[i][0])) << i;
    }
}

/// The names of all threads of this process that begin with "strid-".
std::multiset<std::string> names_of_threads() {
    std::multiset<std::string> names;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(thread.path() / "comm"), name);
        if (name.starts_with("strid-")) names.insert(name);
    }
    return names;
}

TEST(Threads, HaveNames) {
    std::multiset<std::string> names;
    std::latch met{3};
    std::latch seen{1};
    std::vector<std::unique_ptr<FunctionTask>> tasks;
    std::vector<Task*> borrowed;
    for (int i = 0; i < 3; ++i) {
        tasks.push_back(std::make_unique<FunctionTask>("task", [&, i](FunctionTask&) {
            met.arrive_and_wait();
            if (i == 0) {
                names = names_of_threads();
                seen.count_down();
            }
            seen.wait();
            return StepResult::finished;
        }));
        borrowed.push_back(tasks.back().get());
    }
    Execution execution(borrowed, {.mode = dedicated});
    execution.start();
    execution.wait();
    EXPECT_EQ(names, (std::multiset<std::string>{"strid-w0", "strid-w1", "strid-w2"}));
    EXPECT_TRUE(names_of_threads().empty()) << "this thread has its own";
}

/// The processor on which a worker begins does not bind it: when it steps, it may run on any core
/// again, among those that share its cache if there are several groups.
TEST(Threads, OfWorkersAreFreeToLeaveWhereTheyBegin) {
    const Topology topology = Topology::detect();
    std::vector<Processors> workers;
    for (const Core& core : topology.cores()) {
        workers.push_back(topology.cache_domain_count() > 1
                              ? topology.processors_of_domain(core.cache_domain)
                              : Processors{});
    }
    Steps steps(workers.size(), workers.size());
    run_and_compare(steps, {}, workers);
}

}  // namespace
}  // namespace strid::test
