// SPDX-License-Identifier: Apache-2.0
//
// Short names for operators in the tests of the block room.
#pragma once

#include <string>

#include <strid/engine/block/operator_descriptor.hpp>

namespace strid::block::testing {

inline OperatorDescriptor source(std::string name, std::size_t replicas = 1) {
    return make_operator(std::move(name), OperatorKind::source, replicas);
}
inline OperatorDescriptor sink(std::string name, std::size_t replicas = 1) {
    return make_operator(std::move(name), OperatorKind::sink, replicas);
}
inline OperatorDescriptor map(std::string name, std::size_t replicas = 1) {
    return make_operator(std::move(name), OperatorKind::map, replicas);
}
inline OperatorDescriptor flat_map(std::string name, std::size_t replicas = 1) {
    return make_operator(std::move(name), OperatorKind::flat_map, replicas);
}
inline OperatorDescriptor filter(std::string name, std::size_t replicas = 1) {
    return make_operator(std::move(name), OperatorKind::filter, replicas);
}
inline OperatorDescriptor keyby(OperatorDescriptor descriptor) {
    descriptor.distribution = DistributionKind::keyby;
    return descriptor;
}

}  // namespace strid::block::testing
