// SPDX-License-Identifier: Apache-2.0
//
// Runs of what breaks, compiled once for all tests of it.
#include "throwing.hpp"

#include <cstdint>

namespace strid::test {

void end_the_run_and_name_the_operator(std::span<const Broken> ones) {
    for (const auto& [name, operator_name, wire] : ones) {
        const auto events = ordered_events(1, 400);
        for (const std::uint64_t seed : test::seeds(4)) {
            Probe counting;
            Graph whole{"whole"};
            wire(whole, events, counting);
            run(whole, run_options(seed));
            const std::uint64_t calls = *counting.calls;
            ASSERT_GT(calls, 10U) << name;
            for (const std::uint64_t at : {std::uint64_t{1}, calls / 2, calls}) {
                Graph graph{"broken"};
                wire(graph, events, {.at = at});
                try {
                    run(graph, run_options(seed));
                    ADD_FAILURE() << name << ", call " << at << " of " << calls << ", seed " << seed
                                  << ": nothing was thrown";
                } catch (const OperatorError& error) {
                    EXPECT_THAT(error.operator_name(), operator_name) << name;
                    EXPECT_THAT(error.what(), testing::HasSubstr("the function broke")) << name;
                }
            }
        }
    }
}

}  // namespace strid::test
