// SPDX-License-Identifier: Apache-2.0
//
// The cores this process may use, in an order in which neighbours share caches, and how to keep a
// thread on them.
//
// A Topology is an immutable value: any thread may read it. Processor numbers are those of the
// operating system (what taskset and /proc/cpuinfo print).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace strid {

/// One physical core.
struct Core {
    int processor = 0;               // its first hardware thread that this process may use
    int cache_domain = 0;            // cores with the same number share their last-level cache
    int package = 0;                 // cores with the same number are in one socket
    std::vector<int> siblings = {};  // its other hardware threads that this process may use
};

/// The cores of the machine that this process may use. Immutable; any thread.
class Topology {
  public:
    /// The cores of the machine that the affinity mask of the calling thread allows. If the
    /// hardware cannot be read, every processor of the mask counts as a core of one domain.
    static Topology detect();

    /// A machine of exactly these cores: to plan for another machine.
    explicit Topology(std::vector<Core> cores);

    /// The cores in depth-first order of the machine's tree, so that the distance in this list
    /// follows the distance in the hierarchy of caches. Never empty.
    [[nodiscard]] std::span<const Core> cores() const& noexcept { return cores_; }
    std::span<const Core> cores() const&& = delete;  // would outlive its topology

    /// True when this process may run on `processor` (also a core's second hardware thread).
    [[nodiscard]] bool has_processor(int processor) const noexcept;

    /// Every allowed processor of a cache domain, hardware threads included; ascending.
    [[nodiscard]] std::vector<int> processors_of_domain(int cache_domain) const;

    /// The number of groups of cores that share a last-level cache.
    [[nodiscard]] std::size_t cache_domain_count() const noexcept;

  private:
    Topology() = default;

    struct Processor {
        int number = 0;
        int cache_domain = 0;
    };
    std::vector<Core> cores_;
    std::vector<Processor> processors_;  // allowed ones, ascending by number
};

/// Keeps the calling thread on `processor`. False when the system refuses; then nothing changes.
[[nodiscard]] bool pin_current_thread(int processor) noexcept;

/// Keeps the calling thread on any of `processors`. False as above.
[[nodiscard]] bool bind_current_thread(std::span<const int> processors) noexcept;

/// The processors that the calling thread may run on now; ascending.
[[nodiscard]] std::vector<int> current_affinity();

}  // namespace strid
