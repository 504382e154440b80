// SPDX-License-Identifier: Apache-2.0
//
// hwloc gives the tree of the machine. It is read once per process: hardware does not change, and
// reading takes milliseconds. The affinity mask is read each time, because it may change.
#include <algorithm>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <hwloc.h>
#include <sched.h>
#include <sys/mman.h>

#include <strid/base/topology.hpp>

namespace strid {

namespace {

// A hardware thread and its position in the machine's tree; depth-first order.
struct HardwareThread {
    int processor = 0;
    int core = 0;
    int cache_domain = 0;
    int package = 0;
};

// A processor mask with as many bits as the kernel requires.
class ProcessorMask {
  public:
    explicit ProcessorMask(std::size_t bits) : bits_(bits), mask_(CPU_ALLOC(bits)) {
        if (mask_) CPU_ZERO_S(bytes(), mask_.get());
    }
    [[nodiscard]] bool valid() const noexcept { return mask_ != nullptr; }
    [[nodiscard]] std::size_t bits() const noexcept { return bits_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return CPU_ALLOC_SIZE(bits_); }
    [[nodiscard]] cpu_set_t* get() const noexcept { return mask_.get(); }
    [[nodiscard]] bool has(std::size_t bit) const noexcept {
        return CPU_ISSET_S(bit, bytes(), mask_.get()) != 0;
    }
    void set(std::size_t bit) noexcept { CPU_SET_S(bit, bytes(), mask_.get()); }

  private:
    struct Free {
        void operator()(cpu_set_t* mask) const noexcept { CPU_FREE(mask); }
    };
    std::size_t bits_;
    std::unique_ptr<cpu_set_t, Free> mask_;
};

int last_level_cache(hwloc_obj_t object) {
    int domain = -1;
    for (hwloc_obj_t at = object; at != nullptr; at = at->parent) {
        if (hwloc_obj_type_is_dcache(at->type) != 0) domain = static_cast<int>(at->gp_index);
    }
    return domain;
}

struct DestroyTopology {
    void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};

/// hwloc writes through null pointers where it finds no memory.
void expect_memory_for_hwloc() {
    constexpr std::size_t bytes = std::size_t{8} << 20;
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    ::munmap(memory, bytes);
}

std::vector<HardwareThread> read_hardware() {
    expect_memory_for_hwloc();
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return {};
    const std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology> topology(raw);
    // Only the types that are used below: no devices, no memory distances.
    hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_cache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_type_filter(raw, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(raw) != 0) return {};

    std::vector<HardwareThread> threads;
    const int count = hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_PU);
    for (int i = 0; i < count; ++i) {
        hwloc_obj_t unit = hwloc_get_obj_by_type(raw, HWLOC_OBJ_PU, static_cast<unsigned>(i));
        hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(raw, HWLOC_OBJ_CORE, unit);
        const hwloc_obj_t owner = core != nullptr ? core : unit;
        hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(raw, HWLOC_OBJ_PACKAGE, unit);
        threads.push_back({static_cast<int>(unit->os_index), static_cast<int>(owner->gp_index),
                           last_level_cache(unit),
                           package != nullptr ? static_cast<int>(package->gp_index) : -1});
    }
    return threads;
}

const std::vector<HardwareThread>& hardware() {
    static const std::vector<HardwareThread> threads = read_hardware();
    return threads;
}

// The numbers that hwloc gives to objects are unique but large; these count from 0.
template <class Entries, class Entry>
void number_from_zero(Entries& entries, int Entry::*number, std::vector<int>& seen) {
    for (auto& entry : entries) {
        auto found = std::find(seen.begin(), seen.end(), entry.*number);
        if (found == seen.end()) found = seen.insert(seen.end(), entry.*number);
        entry.*number = static_cast<int>(found - seen.begin());
    }
}

}  // namespace

Topology Topology::detect() {
    const std::vector<int> allowed = current_affinity();
    const auto is_allowed = [&](int processor) {
        return std::binary_search(allowed.begin(), allowed.end(), processor);
    };
    Topology result;
    int core_before = -1;
    for (const HardwareThread& thread : hardware()) {
        if (!is_allowed(thread.processor)) continue;
        result.processors_.push_back({thread.processor, thread.cache_domain});
        if (thread.core == core_before) {  // hardware threads of a core are neighbours
            result.cores_.back().siblings.push_back(thread.processor);
            continue;
        }
        core_before = thread.core;
        result.cores_.push_back({thread.processor, thread.cache_domain, thread.package});
    }
    if (result.cores_.empty()) {
        for (int processor : allowed) {
            result.processors_.push_back({processor, 0});
            result.cores_.push_back({processor, 0});
        }
    }
    std::vector<int> domains;
    number_from_zero(result.cores_, &Core::cache_domain, domains);
    number_from_zero(result.processors_, &Processor::cache_domain, domains);
    std::vector<int> packages;
    number_from_zero(result.cores_, &Core::package, packages);
    std::sort(result.processors_.begin(), result.processors_.end(),
              [](const Processor& a, const Processor& b) { return a.number < b.number; });
    return result;
}

Topology::Topology(std::vector<Core> cores) : cores_(std::move(cores)) {
    for (const Core& core : cores_) {
        processors_.push_back({core.processor, core.cache_domain});
        for (const int sibling : core.siblings) processors_.push_back({sibling, core.cache_domain});
    }
    std::sort(processors_.begin(), processors_.end(),
              [](const Processor& a, const Processor& b) { return a.number < b.number; });
}

bool Topology::has_processor(int processor) const noexcept {
    return std::any_of(processors_.begin(), processors_.end(),
                       [&](const Processor& entry) { return entry.number == processor; });
}

std::vector<int> Topology::processors_of_domain(int cache_domain) const {
    std::vector<int> result;
    for (const Processor& entry : processors_) {
        if (entry.cache_domain == cache_domain) result.push_back(entry.number);
    }
    return result;
}

std::size_t Topology::cache_domain_count() const noexcept {
    int last = 0;
    for (const Core& core : cores_) last = std::max(last, core.cache_domain);
    return static_cast<std::size_t>(last) + 1;
}

bool pin_current_thread(int processor) noexcept {
    return bind_current_thread(std::span<const int>(&processor, 1));
}

bool bind_current_thread(std::span<const int> processors) noexcept {
    if (processors.empty()) return false;
    const auto [lowest, highest] = std::minmax_element(processors.begin(), processors.end());
    if (*lowest < 0) return false;
    ProcessorMask mask(static_cast<std::size_t>(*highest) + 1);
    if (!mask.valid()) return false;
    for (int processor : processors) mask.set(static_cast<std::size_t>(processor));
    return sched_setaffinity(0, mask.bytes(), mask.get()) == 0;
}

std::vector<int> current_affinity() {
    // The kernel refuses a mask smaller than its own, so grow until it fits.
    for (std::size_t bits = 1024; bits <= (std::size_t{1} << 20); bits *= 2) {
        const ProcessorMask mask(bits);
        if (!mask.valid()) throw std::bad_alloc();
        if (sched_getaffinity(0, mask.bytes(), mask.get()) != 0) continue;
        std::vector<int> result;
        for (std::size_t bit = 0; bit < mask.bits(); ++bit) {
            if (mask.has(bit)) result.push_back(static_cast<int>(bit));
        }
        if (!result.empty()) return result;
    }
    return {0};
}

}  // namespace strid
