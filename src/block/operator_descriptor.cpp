// SPDX-License-Identifier: Apache-2.0
//
// Table 1 of paper 2 as functions.
#include <utility>

#include <fmt/format.h>

#include <strid/engine/block/operator_descriptor.hpp>

namespace strid::block {

std::string_view acronym(OperatorKind kind) noexcept {
    switch (kind) {
        case OperatorKind::source:
            return "SRC";
        case OperatorKind::sink:
            return "SNK";
        case OperatorKind::map:
            return "M";
        case OperatorKind::flat_map:
            return "FM";
        case OperatorKind::filter:
            return "F";
        case OperatorKind::accumulator:
            return "A";
        case OperatorKind::keyed_windows:
            return "KW";
        case OperatorKind::parallel_windows:
            return "PW";
        case OperatorKind::paned_windows:
            return "PAW";
        case OperatorKind::map_reduce_windows:
            return "MRW";
    }
    return "?";
}

std::string_view to_string(DistributionKind distribution) noexcept {
    switch (distribution) {
        case DistributionKind::none:
            return "none";
        case DistributionKind::forward:
            return "forward";
        case DistributionKind::rebalance:
            return "rebalance";
        case DistributionKind::keyby:
            return "keyby";
        case DistributionKind::broadcast:
            return "broadcast";
        case DistributionKind::complex:
            return "complex";
    }
    return "?";
}

DistributionKind default_distribution(OperatorKind kind) noexcept {
    switch (kind) {
        case OperatorKind::source:
            return DistributionKind::none;
        case OperatorKind::accumulator:
        case OperatorKind::keyed_windows:
            return DistributionKind::keyby;
        case OperatorKind::parallel_windows:
        case OperatorKind::paned_windows:
        case OperatorKind::map_reduce_windows:
            return DistributionKind::complex;
        case OperatorKind::sink:
        case OperatorKind::map:
        case OperatorKind::flat_map:
        case OperatorKind::filter:
            return DistributionKind::forward;
    }
    return DistributionKind::forward;
}

bool is_admissible(OperatorKind kind, DistributionKind distribution) noexcept {
    if (default_distribution(kind) != DistributionKind::forward) {
        return distribution == default_distribution(kind);
    }
    return distribution != DistributionKind::none && distribution != DistributionKind::complex;
}

OperatorDescriptor make_operator(std::string name, OperatorKind kind, std::size_t replicas) {
    return {.name = std::move(name),
            .kind = kind,
            .distribution = default_distribution(kind),
            .replicas = replicas};
}

Function logic_of(const OperatorDescriptor& descriptor) {
    return {.role = Function::Role::logic,
            .operator_name = descriptor.name,
            .kind = descriptor.kind,
            .distribution = descriptor.distribution};
}

Function distribution_of(const OperatorDescriptor& descriptor) {
    return {.role = Function::Role::distribution,
            .operator_name = descriptor.name,
            .kind = descriptor.kind,
            .distribution = descriptor.distribution};
}

Function splitting_after(std::string operator_name) {
    return {.role = Function::Role::splitting,
            .operator_name = std::move(operator_name),
            .kind = OperatorKind::flat_map,
            .distribution = DistributionKind::none};
}

std::string to_string(const Function& function) {
    switch (function.role) {
        case Function::Role::logic:
            return function.operator_name;
        case Function::Role::distribution:
            return fmt::format("f_d({})", function.operator_name);
        case Function::Role::splitting:
            return fmt::format("f_s({})", function.operator_name);
    }
    return function.operator_name;
}

}  // namespace strid::block
