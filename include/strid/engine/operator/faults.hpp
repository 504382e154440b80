// SPDX-License-Identifier: Apache-2.0
//
// Handling of an exception of user code: it ends the run as an OperatorError that names the
// operator. If the operator's options ask for it, the record is dropped and counted instead.
//
// Threads: only the task of the node.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace strid::operators {

/// Rethrows the exception being handled as an OperatorError of the named operator. An OperatorError
/// (of an operator further down the chain) is rethrown as it is, and so is a FanOutError by an
/// operator that emits one record for one.
[[noreturn]] void rethrow_as(const std::string& operator_name, bool fans_out = true);

/// Calls user code of the named operator.
template <class Action>
[[gnu::always_inline]] inline decltype(auto) guarded(const std::string& operator_name,
                                                     Action&& action) {
    try {
        return action();
    } catch (...) {
        rethrow_as(operator_name);
    }
}

/// The policy of one stage in one replica: whether records are dropped on which the user's function
/// throws. The stages behind it throw OperatorErrors, and the output throws when memory runs out,
/// so that these are distinguished from the function's own exceptions.
struct Skipping {
    bool wanted = false;      // fixed before the first record
    std::uint64_t count = 0;  // since it was last taken

    [[nodiscard]] std::uint64_t take() noexcept { return std::exchange(count, 0); }
    /// For the exception being handled: whether its record is dropped; if so, counts it.
    [[nodiscard]] bool take_in() noexcept;
};

}  // namespace strid::operators
