// SPDX-License-Identifier: Apache-2.0
//
// Two threads near to and far from each other: the columns of table 1.1 of paper 4, and the one
// between (cores of a socket with several last-level caches). Plain values.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <strid/base/topology.hpp>

namespace strid::bench {

struct Placement {
    std::string name;
    std::optional<std::pair<int, int>> processors;  ///< None: this machine has no such two.
    std::string why_missing;
};

/// From near to far; of each the first two processors of the topology's order. O(cores squared).
[[nodiscard]] inline std::vector<Placement> placements_of(const Topology& topology) {
    const auto cores = topology.cores();
    std::vector<Placement> all;
    all.push_back({"two hardware threads of a core",
                   {},
                   "no core has two hardware threads that this process may use"});
    for (const Core& core : cores) {
        if (core.siblings.empty()) continue;
        all.back().processors = {core.processor, core.siblings.front()};
        break;
    }
    const auto add_pair = [&](std::string name, std::string why_missing, auto suits) {
        all.push_back({std::move(name), {}, std::move(why_missing)});
        for (std::size_t i = 0; i < cores.size(); ++i) {
            for (std::size_t j = i + 1; j < cores.size(); ++j) {
                if (!suits(cores[i], cores[j])) continue;
                all.back().processors = {cores[i].processor, cores[j].processor};
                return;
            }
        }
    };
    add_pair("two cores that share a cache", "no two cores share their last-level cache",
             [](const Core& a, const Core& b) { return a.cache_domain == b.cache_domain; });
    add_pair("two cores of a socket, no cache shared",
             "the cores of each socket share their last-level cache",
             [](const Core& a, const Core& b) {
                 return a.cache_domain != b.cache_domain && a.package == b.package;
             });
    add_pair("cores of two sockets", "there is one socket",
             [](const Core& a, const Core& b) { return a.package != b.package; });
    return all;
}

}  // namespace strid::bench
