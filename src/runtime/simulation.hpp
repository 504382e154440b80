// SPDX-License-Identifier: Apache-2.0
//
// Runs a pool with one thread in an order drawn from a seed, as hostile as the contract of tasks
// allows: random order, one task favoured or starved for a while, steps of tasks that have nothing
// to do. The same tasks and seed take the same steps, as long as no outside thread notifies them
// and no task reads the clock.
#pragma once

#include <cstdint>

#include "pool.hpp"
#include "worker.hpp"

namespace strid::runtime {

/// Runs until the pool ends. `worker` is the pool's only one. Reports an Error that names the
/// unfinished tasks to `host` when none of them can ever run again.
void simulate(Pool& pool, Host& host, Worker& worker, std::uint64_t seed) noexcept;

}  // namespace strid::runtime
