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
void end_the_run_and_name_the_operator(std::span<const Broken> ones);

}  // namespace strid::test
