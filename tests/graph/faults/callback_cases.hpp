// SPDX-License-Identifier: Apache-2.0
//
// Cases of callbacks that throw, and what must follow of each: whenever it throws, the run ends
// with an OperatorError that names the operator and carries what was thrown, and no record is lost
// or destroyed twice.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "../test_sources.hpp"
#include "probe.hpp"

namespace strid::test {

const std::uint64_t callback_count = perturbed ? 100 : 600;

/// A graph with a function that calls the probe.
struct CallbackCase {
    const char* name;
    std::function<void(Graph&, const Probe&)> wire;
    bool by_record = true;  ///< Called for each record, so that it may break at any of them.
    std::vector<std::string> operators = {"broken"};  ///< One of them is to be named.

    friend void PrintTo(const CallbackCase& one, std::ostream* out) { *out << one.name; }
};

/// The run with this probe ends with an error that names one of the case's operators.
void expect_named(const CallbackCase& one, const Probe& probe, const RunOptions& options);
/// The same in every mode, at several moments where the function is called for each record.
void expect_named_in_all_ways(const CallbackCase& one);
/// The name of a case as that of a test.
std::string name_of_case(const CallbackCase& one);

const OperatorOptions broken{.name = "broken"};
const OperatorOptions before{.name = "before"};
const auto ignore_tracked = [](const Tracked&) {};
const auto key_of_tracked = [](const Tracked& t) { return t.value % 7; };
const auto wrap_number = [](const std::uint64_t& n) { return Tracked{n}; };
const auto time_of_tracked = [](const Tracked& t) {
    return EventTime::of_ns(static_cast<std::int64_t>(t.value));
};

inline auto tracked(Graph& graph) {
    return graph.source(Numbers{callback_count}, {.name = "numbers"}).map(wrap_number, before);
}

}  // namespace strid::test
