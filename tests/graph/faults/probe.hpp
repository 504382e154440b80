// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace strid::test {

/// Throws when it is called for the `at`th time, of all its copies together; 0: never.
struct Probe {
    std::shared_ptr<std::atomic<std::uint64_t>> calls =
        std::make_shared<std::atomic<std::uint64_t>>(0);
    std::uint64_t at = 0;

    void operator()() const {
        // Relaxed: a count that hands over nothing.
        if (calls->fetch_add(1, std::memory_order_relaxed) + 1 == at) {
            throw std::runtime_error("the function broke");
        }
    }
};

}  // namespace strid::test
