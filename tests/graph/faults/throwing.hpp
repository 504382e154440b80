// SPDX-License-Identifier: Apache-2.0
//
// Functions that throw at the first, a middle and the last call, in every mode: the run ends, and
// the error names the operator.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "../windows.hpp"
#include "probe.hpp"

namespace strid::test {

inline std::vector<Event> ordered_events(std::uint64_t seed, std::size_t count) {
    return random_events(seed, {.disorder = 0, .too_late = 0}, count);
}

/// An operator 'broken' with the probe in its function, behind one stream or two.
using Wiring = std::function<void(Graph&, const std::vector<Event>&, const Probe&)>;

inline const auto ignore = [](const auto&) {};
inline constexpr auto same_key = on<&Event::key>();

/// A field that breaks.
inline auto value_with(const Probe& probe) {
    return [probe](const Event& event) {
        probe();
        return event.value;
    };
}

/// A function that throws when it makes something of a pair.
inline auto sum_with(const Probe& probe) {
    return [probe](const Event& a, const Event& b) {
        probe();
        return a.value + b.value;
    };
}

struct Broken {
    const char* what;
    testing::Matcher<std::string> operator_name;
    Wiring wire;
};

/// Of a run with the same seed the number of calls is the same.
inline void end_the_run_and_name_the_operator(std::span<const Broken> ones) {
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
