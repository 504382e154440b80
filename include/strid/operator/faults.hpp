// SPDX-License-Identifier: Apache-2.0
//
// What becomes of an exception of user code: it ends the run as an OperatorError that names the
// operator, or, where the operator's options say so, the record that it was thrown for is left out
// and counted.
//
// Threads: only the task of the node.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace strid::operators {

/// Rethrows the exception being handled as an OperatorError of the named operator; one that
/// already is an OperatorError (of an operator further down the chain) passes as it is, and a
/// FanOutError an operator that makes one record of one.
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

/// The policy of one stage in one replica: whether records are left out that the user's function
/// throws on. What is behind the stage in its chain throws OperatorErrors, and its output for want
/// of memory, so that these are told apart from the function's own.
struct Skipping {
    bool wanted = false;      // fixed before the first record
    std::uint64_t count = 0;  // since it was last taken

    [[nodiscard]] std::uint64_t take() noexcept { return std::exchange(count, 0); }
    /// Of the exception being handled: whether the record it was thrown for is left out, which it
    /// then counts.
    [[nodiscard]] bool take_in() noexcept;
};

}  // namespace strid::operators
