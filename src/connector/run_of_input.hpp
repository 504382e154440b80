// SPDX-License-Identifier: Apache-2.0
//
// The run that an input is opened for, while its source opens it: a transport whose threads see
// something that users must know, such as a line that a client has not ended, warns there. Private
// to the connector room. Each thread has its own.
#pragma once

#include <string>
#include <utility>

#include <strid/operator/run_scope.hpp>

namespace strid::detail {

class RunOfInput {
  public:
    /// `run`: null, where there is none. It outlives the inputs that are opened meanwhile.
    explicit RunOfInput(RunScope* run) noexcept : before_(std::exchange(current(), run)) {}
    ~RunOfInput() { current() = before_; }
    RunOfInput(const RunOfInput&) = delete;
    RunOfInput& operator=(const RunOfInput&) = delete;

    /// Null: no source opens an input on this thread.
    [[nodiscard]] static RunScope*& current() noexcept {
        static thread_local RunScope* run = nullptr;
        return run;
    }

  private:
    RunScope* const before_;
};

}  // namespace strid::detail
