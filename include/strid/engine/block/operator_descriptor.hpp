// SPDX-License-Identifier: Apache-2.0
//
// An operator as the block algebra sees it: the triple <f_d, f_op, n> of paper 2, section 4.1, as
// plain values. The algebra never calls a function; a `Function` only names the one that a node
// would run: an operator's logic, its distribution, or the choice of a split's branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strid::block {

/// The type of an operator's logic, TypeId(f_op) in paper 2, table 1.
enum class OperatorKind : std::uint8_t {
    source,
    sink,
    map,
    flat_map,
    filter,
    accumulator,
    keyed_windows,
    parallel_windows,
    paned_windows,
    map_reduce_windows
};

/// How records reach an operator's replicas, TypeId(f_d) in paper 2, table 1. `broadcast` is the
/// paper's BD of figure 11, the simplest of its complex distributions. `rebalance` is an addition:
/// as forward, but to any replica, also when there are as many before it; this is a shuffle.
enum class DistributionKind : std::uint8_t { none, forward, rebalance, keyby, broadcast, complex };

/// SRC, SNK, M, FM, F, A, KW, PW, PAW or MRW.
[[nodiscard]] std::string_view acronym(OperatorKind kind) noexcept;
/// none, forward, rebalance, keyby, broadcast or complex.
[[nodiscard]] std::string_view to_string(DistributionKind distribution) noexcept;

/// The distribution that paper 2's table 1 gives an operator that asks for no other.
[[nodiscard]] DistributionKind default_distribution(OperatorKind kind) noexcept;

/// Whether table 1 allows the pair: a source has none, accumulators and keyed windows are keyby,
/// the other windows complex, and the rest forward, rebalance, keyby or broadcast.
[[nodiscard]] bool is_admissible(OperatorKind kind, DistributionKind distribution) noexcept;

/// The triple <f_d, f_op, n>. The name is the operator's identity within one graph.
struct OperatorDescriptor {
    std::string name;
    OperatorKind kind = OperatorKind::map;
    DistributionKind distribution = DistributionKind::forward;
    std::size_t replicas = 1;

    bool operator==(const OperatorDescriptor&) const = default;
};

/// An operator with the distribution of table 1, for brevity at the call site.
[[nodiscard]] OperatorDescriptor make_operator(std::string name, OperatorKind kind,
                                               std::size_t replicas = 1);

/// The function that a sequential block runs.
struct Function {
    enum class Role : std::uint8_t {
        logic,         ///< f_op: the operator's own logic
        distribution,  ///< f_d: to which replica of the named operator a record goes
        splitting      ///< f_s: to which branches after the named operator a record goes
    };

    Role role = Role::logic;
    std::string operator_name;
    OperatorKind kind = OperatorKind::map;
    DistributionKind distribution = DistributionKind::forward;

    bool operator==(const Function&) const = default;
};

[[nodiscard]] Function logic_of(const OperatorDescriptor& descriptor);
[[nodiscard]] Function distribution_of(const OperatorDescriptor& descriptor);
/// The splitting function behind an operator. The user decides its result: unicast to broadcast.
[[nodiscard]] Function splitting_after(std::string operator_name);

/// `name`, `f_d(name)` or `f_s(name)`.
[[nodiscard]] std::string to_string(const Function& function);

}  // namespace strid::block
