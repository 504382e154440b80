// SPDX-License-Identifier: Apache-2.0
//
// Operators and terms drawn by rapidcheck.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>
#include <rapidcheck.h>

#include <strid/engine/block/grammar.hpp>
#include <strid/engine/block/operator_descriptor.hpp>
#include <strid/engine/block/rules.hpp>

namespace strid::block::testing {

inline OperatorDescriptor random_operator(const std::string& name) {
    const OperatorKind kind =
        *rc::gen::element(OperatorKind::map, OperatorKind::filter, OperatorKind::flat_map,
                          OperatorKind::accumulator, OperatorKind::parallel_windows);
    OperatorDescriptor descriptor = make_operator(name, kind, *rc::gen::inRange<std::size_t>(1, 4));
    if (descriptor.distribution == DistributionKind::forward) {
        descriptor.distribution = *rc::gen::element(
            DistributionKind::forward, DistributionKind::forward, DistributionKind::rebalance,
            DistributionKind::keyby, DistributionKind::broadcast);
    }
    return descriptor;
}

/// With some more operators one after the other, each of which is added or splits an end.
inline ParallelBlock grown(ParallelBlock term, int& number) {
    const auto fresh = [&] { return random_operator(fmt::format("op{}", number++)); };
    const int length = *rc::gen::inRange(0, 4);
    for (int step = 0; step < length; ++step) {
        const ParallelBlock end = *rc::gen::elementOf(MultiPipe::view(term)->rightmost());
        term = *rc::gen::arbitrary<bool>() ? add_in(term, end, fresh()).term()
                                           : split(term, end, {fresh(), fresh()}).term();
    }
    return term;
}
/// A term that begins with any operator, named op0, op1 and so on.
inline ParallelBlock random_multipipe(int& number) {
    ParallelBlock first = create(random_operator(fmt::format("op{}", number++))).term();
    return grown(std::move(first), number);
}

}  // namespace strid::block::testing
