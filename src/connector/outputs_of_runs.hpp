// SPDX-License-Identifier: Apache-2.0
//
// The outputs that runs write to by epochs. A snapshot finds the rows of one by its name, so a run
// has one of each name. Any thread.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <strid/operator/run_scope.hpp>

namespace strid::detail {

class OutputsOfRuns {
  public:
    [[nodiscard]] static OutputsOfRuns& of_process() {
        static OutputsOfRuns all;
        return all;
    }
    /// False: the run has another output of this name.
    [[nodiscard]] bool add(const RunScope* run, const std::string& name) {
        const std::lock_guard lock(mutex_);
        return used_.emplace(run, name).second;
    }
    void remove(const RunScope* run, const std::string& name) noexcept {
        const std::lock_guard lock(mutex_);
        used_.erase({run, name});
    }

  private:
    std::mutex mutex_;
    std::set<std::pair<const RunScope*, std::string>> used_;
};

}  // namespace strid::detail
