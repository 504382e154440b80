// SPDX-License-Identifier: Apache-2.0
//
// Operators drawn by rapidcheck.
#pragma once

#include <string>

#include <rapidcheck.h>

#include <strid/block/operator_descriptor.hpp>

namespace strid::block::testing {

inline OperatorDescriptor random_operator(const std::string& name) {
    const OperatorKind kind =
        *rc::gen::element(OperatorKind::map, OperatorKind::filter, OperatorKind::flat_map,
                          OperatorKind::accumulator, OperatorKind::parallel_windows);
    OperatorDescriptor descriptor = make_operator(name, kind, *rc::gen::inRange<std::size_t>(1, 4));
    if (descriptor.distribution == DistributionKind::forward) {
        descriptor.distribution =
            *rc::gen::element(DistributionKind::forward, DistributionKind::forward,
                              DistributionKind::keyby, DistributionKind::broadcast);
    }
    return descriptor;
}

}  // namespace strid::block::testing
