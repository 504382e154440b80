// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include <hwloc.h>

namespace strid::bench {

namespace {

struct DestroyTopology {
    void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};

void read_caches(Machine& machine) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return;
    const std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology> topology(raw);
    hwloc_topology_set_cache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(raw) != 0) return;
    // From one hardware thread up: the nearest cache comes first, the last one stays.
    std::size_t nearest = 0;
    for (hwloc_obj_t at = hwloc_get_obj_by_type(raw, HWLOC_OBJ_PU, 0); at != nullptr;
         at = at->parent) {
        if (hwloc_obj_type_is_dcache(at->type) == 0) continue;
        if (nearest == 0) nearest = at->attr->cache.size;
        machine.last_cache_bytes = at->attr->cache.size;
        machine.line_bytes = at->attr->cache.linesize;
    }
    machine.first_cache_bytes = nearest;
}

std::size_t free_bytes() {
    std::ifstream lines("/proc/meminfo");
    std::size_t kibibytes = 0;
    for (std::string name; lines >> name >> kibibytes;) {
        if (name == "MemAvailable:") return kibibytes << 10;
        lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return std::size_t{1} << 30;
}

/// The memory that the control group leaves; the maximum if it sets no limit.
std::size_t group_bytes() {
    std::ifstream limit("/sys/fs/cgroup/memory.max");
    std::ifstream used("/sys/fs/cgroup/memory.current");
    std::size_t most = 0;
    std::size_t taken = 0;
    if (!(limit >> most) || !(used >> taken)) return std::numeric_limits<std::size_t>::max();
    return most - std::min(most, taken);
}

}  // namespace

Machine read_machine() {
    Machine machine{.memory_bytes = std::min(free_bytes(), group_bytes())};
    read_caches(machine);
    if (machine.first_cache_bytes == 0) machine.first_cache_bytes = std::size_t{32} << 10;
    if (machine.last_cache_bytes == 0) machine.last_cache_bytes = std::size_t{8} << 20;
    if (machine.line_bytes == 0) machine.line_bytes = 64;
    return machine;
}

}  // namespace strid::bench
