// SPDX-License-Identifier: Apache-2.0
//
// The topology against the contents of /sys and the affinity of this thread.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/topology.hpp>

#include "../support/whereabouts.hpp"

namespace strid {
namespace {

std::string read_line(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::filesystem::path processor_folder(int processor) {
    return "/sys/devices/system/cpu/cpu" + std::to_string(processor);
}

TEST(Topology, CoresAreDistinctAndAllowed) {
    const Topology topology = Topology::detect();
    const std::vector<int> allowed = current_affinity();
    ASSERT_FALSE(topology.cores().empty());
    std::set<int> seen;
    for (const Core& core : topology.cores()) {
        EXPECT_TRUE(seen.insert(core.processor).second) << core.processor;
        EXPECT_TRUE(topology.has_processor(core.processor));
        EXPECT_TRUE(std::binary_search(allowed.begin(), allowed.end(), core.processor));
    }
    for (int processor : allowed) EXPECT_TRUE(topology.has_processor(processor));
    EXPECT_FALSE(topology.has_processor(-1));
    EXPECT_FALSE(topology.has_processor(1 << 20));
}

// Two hardware threads of one core share a line in the kernel's list of siblings.
TEST(Topology, OneEntryPerPhysicalCore) {
    const Topology topology = Topology::detect();
    std::set<std::string> cores;
    for (int processor : current_affinity()) {
        const std::string siblings =
            read_line(processor_folder(processor) / "topology/thread_siblings_list");
        if (siblings.empty()) GTEST_SKIP() << "the kernel does not report it";
        cores.insert(siblings);
    }
    EXPECT_EQ(topology.cores().size(), cores.size());
}

TEST(Topology, SiblingsAreTheOtherHardwareThreadsOfTheCore) {
    const Topology topology = Topology::detect();
    for (const Core& core : topology.cores()) {
        std::vector<int> threads = core.siblings;
        threads.push_back(core.processor);
        std::sort(threads.begin(), threads.end());
        const auto siblings_of = [](int processor) {
            return read_line(processor_folder(processor) / "topology/thread_siblings_list");
        };
        if (siblings_of(core.processor).empty()) GTEST_SKIP() << "the kernel does not report it";
        std::vector<int> expected;
        for (const int processor : current_affinity()) {
            if (siblings_of(processor) == siblings_of(core.processor)) {
                expected.push_back(processor);
            }
        }
        EXPECT_EQ(threads, expected);
    }
}

TEST(Topology, CoresOfOnePackageAreThoseOfOneSocket) {
    const Topology topology = Topology::detect();
    const auto package_of = [](const Core& core) {
        return read_line(processor_folder(core.processor) / "topology/physical_package_id");
    };
    EXPECT_EQ(topology.cores().front().package, 0);
    for (const Core& a : topology.cores()) {
        if (package_of(a).empty()) GTEST_SKIP() << "the kernel does not report it";
        for (const Core& b : topology.cores()) {
            EXPECT_EQ(a.package == b.package, package_of(a) == package_of(b));
        }
    }
}

TEST(Topology, OfAnotherMachineHasEveryHardwareThread) {
    const Topology topology({{0, 0, 0, {4}}, {1, 0, 0, {5}}, {2, 1, 1}});
    for (const int processor : {0, 1, 2, 4, 5}) EXPECT_TRUE(topology.has_processor(processor));
    EXPECT_FALSE(topology.has_processor(3));
    EXPECT_EQ(topology.processors_of_domain(0), (std::vector<int>{0, 1, 4, 5}));
    EXPECT_EQ(topology.processors_of_domain(1), std::vector<int>{2});
}

TEST(Topology, DomainsAreContiguousAndMatchTheLastLevelCache) {
    const Topology topology = Topology::detect();
    std::set<int> closed;
    int current = topology.cores().front().cache_domain;
    EXPECT_EQ(current, 0);
    for (const Core& core : topology.cores()) {
        if (core.cache_domain != current) closed.insert(current);
        current = core.cache_domain;
        EXPECT_FALSE(closed.contains(current)) << "domain " << current << " is scattered";
        const std::vector<int> members = topology.processors_of_domain(core.cache_domain);
        EXPECT_TRUE(std::binary_search(members.begin(), members.end(), core.processor));
    }
    EXPECT_EQ(topology.cache_domain_count(), closed.size() + 1);
    EXPECT_TRUE(topology.processors_of_domain(-1).empty());
}

TEST(Topology, RespectsTheAffinityMask) {
    std::thread([] {
        const int last = current_affinity().back();
        ASSERT_TRUE(pin_current_thread(last));
        const Topology topology = Topology::detect();
        ASSERT_EQ(topology.cores().size(), 1U);
        EXPECT_EQ(topology.cores().front().processor, last);
        EXPECT_EQ(test::whereabouts().is_on, last);
        EXPECT_EQ(topology.cache_domain_count(), 1U);
        EXPECT_EQ(topology.processors_of_domain(0), std::vector<int>{last});
    }).join();
}

TEST(Topology, PinnedThreadRunsThere) {
    const Topology topology = Topology::detect();
    for (const Core& core : topology.cores()) {
        std::thread([&] {
            ASSERT_TRUE(pin_current_thread(core.processor));
            const test::Whereabouts found = test::whereabouts();
            EXPECT_EQ(found.is_on, core.processor);
            EXPECT_EQ(found.may_be_on, std::vector<int>{core.processor});
            EXPECT_EQ(current_affinity(), found.may_be_on);
        }).join();
    }
}

/// Without one processor after the other, down to one.
TEST(Topology, BoundThreadRunsThere) {
    std::thread([] {
        std::vector<int> allowed = test::whereabouts().may_be_on;
        ASSERT_EQ(current_affinity(), allowed);
        for (; !allowed.empty(); allowed.pop_back()) {
            ASSERT_TRUE(bind_current_thread(allowed));
            const test::Whereabouts found = test::whereabouts();
            EXPECT_EQ(found.may_be_on, allowed);
            EXPECT_TRUE(std::binary_search(allowed.begin(), allowed.end(), found.is_on));
        }
    }).join();
}

TEST(Topology, RefusesProcessorsThatDoNotExist) {
    std::thread([] {
        const std::vector<int> before = test::whereabouts().may_be_on;
        EXPECT_FALSE(pin_current_thread(-1));
        EXPECT_FALSE(pin_current_thread(100'000));
        EXPECT_FALSE(bind_current_thread({}));
        EXPECT_EQ(test::whereabouts().may_be_on, before);
    }).join();
}

}  // namespace
}  // namespace strid
