// SPDX-License-Identifier: Apache-2.0
//
// Many trajectories on a farm, reduced on line (paper 4: StochKit-FF):
//
//     source -> ( farm of workers -> dispatch ) -> end
//                ^---------- again ----------'
//
// The tasks in the loop are runners, each with one trajectory; a worker simulates a slice of it and
// records into statistics of its own. A long trajectory goes round until its end, so that it holds
// no worker that others wait for. Statistics of the workers are merged at the end; they are sums of
// whole numbers, so that no order can show in them (statistics.hpp).
//
// Memory: statistics for each worker, four runners for each; none by the number of trajectories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "method.hpp"
#include "statistics.hpp"
#include "tools/common/interruption.hpp"
#include "tools/common/progress.hpp"
#include "tools/common/worker_options.hpp"

namespace strid::ssa {

struct FarmJob {
    std::uint64_t runs = 1;
    tool::WorkerOptions workers = {};
    bool quantiles = true;
    /// Gets the text of the trajectories in their order; empty: it is not made.
    std::function<void(std::string_view)> write = {};
};

/// Throws Error where a trajectory fails, of several the one with the lowest number, and
/// Interrupted.
[[nodiscard]] Statistics simulate(const Kinetics& kinetics, const Plan& plan, const FarmJob& job,
                                  const tool::Interruption& interruption, tool::Progress& progress);

}  // namespace strid::ssa
